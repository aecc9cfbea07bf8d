import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";
const client = new OpenAI({ apiKey: process.argv[4] || "sk-test-token", baseURL: process.argv[2] || "http://127.0.0.1:8801/v1" });
const ws = new ResponsesWS(client);
const send = (t, extra = {}) => ws.send({ type: "response.create", model: process.argv[3] || "gpt-6-astra", store: false, input: [{ type: "message", role: "user", content: [{ type: "input_text", text: t }] }], ...extra });
let n = 0, txt = "", first;
send("PLAIN node one");
for await (const e of ws) {
  if (e.type === "error") { console.log("ERR", e.error?.message); break; }
  if (e.type !== "message") { console.log("evt", e.type); continue; }
  const m = e.message;
  if (m.type === "response.output_text.delta") txt += m.delta;
  if (m.type === "response.completed") { console.log("completed", m.response.id.slice(0, 20), txt.slice(0, 60)); txt = ""; n++; if (n === 1) send("PLAIN node two", { previous_response_id: m.response.id }); else break; }
}
ws.close();
