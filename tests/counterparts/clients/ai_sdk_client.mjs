// The AI SDK over plain HTTP: BASE MODEL KEY. One line a scenario: "ok NAME" or "FAILED NAME: what".
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, streamText, tool } from "ai";
import { z } from "zod";
const [base, name, key] = process.argv.slice(2);
const model = createOpenAI({ baseURL: base, apiKey: key }).responses(name);
const slow = createOpenAI({ baseURL: base, apiKey: key }).responses(name.split("@")[0] + "@100");
const ran = [];
const tools = {
  exec_command: tool({
    description: "run",
    inputSchema: z.object({ cmd: z.string() }),
    execute: async ({ cmd }) => { ran.push(cmd); return "ran: " + cmd; },
  }),
};
const call = 'rehearse call exec_command {"cmd": "date"}';
let failed = false;
const want = (condition, what) => { if (!condition) throw new Error(what); };
const scenario = async (what, play) => {
  ran.length = 0;
  try { await play(); console.log("ok " + what); }
  catch (error) { failed = true; console.log(`FAILED ${what}: ${error.message}`.replaceAll("\n", " ")); }
};
for (const store of [true, false]) {
  const options = { model, tools, stopWhen: isStepCount(4), maxRetries: 0, providerOptions: { openai: { store } } };
  await scenario(`ai: a tool round trip as one body, ${store ? "stored" : "unstored"}`, async () => {
    const { text, usage } = await generateText({ ...options, prompt: call });
    want(ran.join() === "date", `the tool ran as ${ran}`);
    want(text.includes("answered: "), text);
    want(usage.outputTokens > 0, "no usage");
  });
  await scenario(`ai: a tool round trip as a stream, ${store ? "stored" : "unstored"}`, async () => {
    const result = streamText({ ...options, prompt: `${call}\n${call}`, onError: ({ error }) => { throw error; } });
    let text = "";
    for await (const piece of result.textStream) text += piece;
    want(ran.join() === "date,date", `the tool ran as ${ran}`);
    want(text.includes("answered: "), text);
  });
}
await scenario("ai: a stream that is left ends, and the next turn works", async () => {
  const left = new AbortController();
  const result = streamText({ model: slow, maxRetries: 0, abortSignal: left.signal, prompt: "rehearse 9000 tokens of prose", onError: () => {} });
  let pieces = 0;
  try { for await (const _ of result.textStream) if (++pieces === 3) left.abort(); } catch {}
  want(pieces >= 3, `${pieces} pieces`);
  const { text } = await generateText({ model, maxRetries: 0, prompt: "PLAIN hello" });
  want(text.includes("rehearsal model"), text);
});
await scenario("ai: an error has its status and its words", async () => {
  const wrong = createOpenAI({ baseURL: base, apiKey: "wrong" }).responses(name);
  try { await generateText({ model: wrong, maxRetries: 0, prompt: "hi" }); }
  catch (error) { want(error.statusCode === 401 && error.message.length > 5, `${error.statusCode} ${error.message}`); return; }
  throw new Error("a wrong key was taken");
});
process.exit(failed ? 1 : 0);
