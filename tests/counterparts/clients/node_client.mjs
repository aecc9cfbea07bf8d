// openai-node against a bridge: BASE MODEL KEY. One line a scenario: "ok NAME" or "FAILED NAME: what".
import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
const [base, model, key] = process.argv.slice(2);
const ws = new ResponsesWS(new OpenAI({ apiKey: key, baseURL: base }));
const user = (text) => [{ type: "message", role: "user", content: [{ type: "input_text", text }] }];
const ask = (text, extra = {}) => ws.send({ type: "response.create", model, store: false, input: user(text), ...extra });
const tools = [{ type: "function", name: "exec_command", strict: false, parameters: { type: "object", properties: { cmd: { type: "string" } } } }];
const results = [];
let text = "";
ask("PLAIN node one");
for await (const e of ws) {
  if (e.type === "error") { console.log("FAILED create and chain:", e.error?.message); process.exit(1); }
  if (e.type !== "message") continue;
  const m = e.message;
  if (m.type === "response.output_text.delta") text += m.delta;
  if (m.type !== "response.completed") continue;
  results.push([text, m.response]);
  text = "";
  const parent = { previous_response_id: m.response.id };
  if (results.length === 1) ask("PLAIN node two", parent);
  else if (results.length === 2) ask('rehearse call exec_command {"cmd": "date"}', { ...parent, tools });
  else if (results.length === 3) {
    const output = m.response.output.filter((i) => i.type === "function_call").map((i) => ({ type: "function_call_output", call_id: i.call_id, output: "friday" }));
    ws.send({ type: "response.create", model, store: false, tools, input: output, ...parent });
  } else break;
}
ws.close();
const chained = results[1][1].previous_response_id === results[0][1].id && results[0][0].includes("rehearsal model") && results[1][0].includes("rehearsal model");
console.log(chained ? "ok create and chain" : `FAILED create and chain: ${JSON.stringify(results.slice(0, 2))}`);
const answered = results[3][0].includes("answered: friday");
console.log(answered ? "ok tool round trip" : `FAILED tool round trip: ${JSON.stringify(results.slice(2))}`);
process.exit(chained && answered ? 0 : 1);
