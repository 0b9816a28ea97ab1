/** The double behind the model port of the AI SDK, version 4, and the tool as the AI SDK defines it. */
import { tool } from 'ai';
import { z } from 'zod';
import { decide, hang, note } from '../support/peers/double.ts';

const usage = {
  inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 10, text: 10, reasoning: 0 },
};

export const model = {
  specificationVersion: 'v4',
  provider: 'double',
  modelId: 'double-1',
  supportedUrls: {},
  async doGenerate({ prompt, abortSignal }) {
    const asked = prompt.findLastIndex(({ role }) => role === 'user');
    const results = prompt.slice(asked).filter(({ role }) => role === 'tool').length;
    const decision = decide(JSON.stringify(prompt[asked]?.content), results);
    if (decision.kind === 'hang') await hang(decision.thread, abortSignal);
    if (decision.kind !== 'call') {
      await note('d', decision.thread);
      return answer([{ type: 'text', text: 'Done.' }], 'stop');
    }
    const call = { toolCallId: `call_${results}`, toolName: 'effect', input: JSON.stringify(decision.call) };
    return answer([{ type: 'tool-call', ...call }], 'tool-calls');
  },
  async doStream(options) {
    const { content, finishReason } = await model.doGenerate(options);
    const parts = content.flatMap((part) =>
      part.type !== 'text'
        ? [part]
        : [
            { type: 'text-start', id: '1' },
            { type: 'text-delta', id: '1', delta: part.text },
            { type: 'text-end', id: '1' },
          ],
    );
    return {
      stream: ReadableStream.from([
        { type: 'stream-start', warnings: [] },
        ...parts,
        { type: 'finish', finishReason, usage },
      ]),
    };
  },
};

const answer = (content, unified) => ({
  content,
  finishReason: { unified, raw: undefined },
  usage,
  warnings: [],
});

export const INSTRUCTIONS = 'You are measured.';

/** `execute` is how the runtime wants the effect to be called. */
export const effectTool = (execute) =>
  tool({
    description: 'Appends a line.',
    inputSchema: z.object({ thread: z.string(), n: z.number() }),
    execute,
  });
