/**
 * Unmodified third-party clients. Each sends an agent a text and collects the answer, which must have exactly one end
 * mark; after a cut stream it reconnects in its own way. It throws if it received no end mark.
 */
import { HttpAgent } from '@ag-ui/client';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { expect } from '@jest/globals';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { streamText } from 'ai';
import OpenAI from 'openai';
import { collect } from '../projections/golden.ts';
import { a2aClient, answerOf, heard, sending, stateOf, taskIdOf } from './a2a.ts';

export interface Turn {
  readonly url: string;
  /** Thread id, for clients that choose it. */
  readonly threadId: string;
  /** Earlier messages of the thread, with their answers. */
  readonly before: readonly (readonly [said: string, answer: string])[];
  readonly text: string;
  /** Id of the turn; the same for every attempt. */
  readonly id: string;
}

export interface ToldTurn {
  readonly threadId: string;
  readonly text: string;
}

/** Begins a turn; each call of the returned function is one attempt. */
export type OthersClient = (turn: Turn) => () => Promise<ToldTurn>;

const AGENT = 'helper';

const openai = ({ url }: Turn) => new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
const completion = ({ threadId, before, text }: Turn) => ({
  model: AGENT,
  messages: [...before.flat(), text].map((content, n) => ({
    role: n % 2 === 0 ? ('user' as const) : ('assistant' as const),
    content,
  })),
  metadata: { thread_id: threadId },
});

/** After a cut that the server cannot see (a proxy has the answer), a repetition must be marked: else it asks for another answer. */
const marked = ({ id }: Turn) => ({ 'idempotency-key': id });

/**
 * A fetch whose broken stream ends without an error: AG-UI's client (1.0.0) cancels a stream that has failed, and
 * leaves the rejection of that cancel unhandled.
 */
async function fetchToCut(url: string, init: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch(() => ({ done: true, value: undefined }));
      if (done || !value) controller.close();
      else controller.enqueue(value);
    },
    cancel: () => reader.cancel().catch(() => undefined),
  });
  return new Response(body, response);
}

function requireEnd(isEnded: boolean): void {
  if (!isEnded) throw new Error('The stream was cut.');
}

export const OTHERS_CLIENTS: Readonly<Record<string, OthersClient>> = {
  'openai, as a stream': (turn) => async () => {
    const { threadId } = turn;
    const stream = await openai(turn).chat.completions.create(
      { ...completion(turn), stream: true, stream_options: { include_usage: true } },
      { headers: marked(turn) },
    );
    const chunks = await collect(stream);
    const ends = chunks.flatMap(({ choices }) => choices).filter(({ finish_reason: end }) => end !== null);
    requireEnd(ends.length > 0 && chunks.at(-1)?.usage != null);
    expect(ends).toHaveLength(1);
    const text = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? '')).join('');
    return { threadId, text };
  },
  'openai, as a whole': (turn) => async () => {
    const { choices } = await openai(turn).chat.completions.create(completion(turn), {
      headers: marked(turn),
    });
    return { threadId: turn.threadId, text: choices[0]?.message.content ?? '' };
  },
  'the AI SDK, by its OpenAI-compatible provider': (turn) => async () => {
    const { url, threadId } = turn;
    const provider = createOpenAICompatible({ name: 'everthread', baseURL: `${url}/v1` });
    const failures: unknown[] = [];
    const { textStream } = streamText({
      model: provider(AGENT),
      messages: completion(turn).messages,
      headers: { 'x-thread-id': threadId, ...marked(turn) },
      maxRetries: 0,
      onError: ({ error }) => {
        failures.push(error);
      },
    });
    const text = (await collect(textStream)).join('');
    if (failures.length > 0) throw failures[0];
    return { threadId, text };
  },
  'AG-UI': (turn) => async () => {
    const { url, threadId, before, text, id } = turn;
    const agent = new HttpAgent({ url: `${url}/ag-ui/${AGENT}`, threadId, fetch: fetchToCut });
    agent.addMessage({ id, role: 'user', content: text });
    let ends = 0;
    agent.subscribe({
      onRunFinishedEvent() {
        ends += 1;
      },
      // Otherwise the client logs the failure to the console; its types lack `stopPropagation`.
      onRunFailed: () => ({ stopPropagation: true }) as never,
    });
    await agent.runAgent({ runId: id });
    requireEnd(ends > 0);
    expect(ends).toBe(1);
    expect(agent.messages.filter((message) => message.id === id)).toHaveLength(1);
    // Each step's text is a separate message. The client appends received messages after its own, so the earlier
    // messages of the thread come first.
    const answers = agent.messages.flatMap(({ role, content }) =>
      role === 'assistant' && content ? [String(content)] : [],
    );
    expect(answers.slice(0, before.length)).toEqual(before.map(([, answer]) => answer));
    return { threadId, text: answers.slice(before.length).join('\n\n') };
  },
  A2A: (turn) => {
    const { url, threadId: contextId, text, id: messageId } = turn;
    let taskId = '';
    let asked = 0;
    return async () => {
      const client = await a2aClient(`${url}/a2a/${AGENT}/`);
      asked += 1;
      const told = (words: string) => ({ threadId: contextId, text: words });
      const known = taskId !== '' && asked % 2 === 0;
      if (known) {
        const task = await client.getTask({ tenant: '', id: taskId });
        if (stateOf(task) === 'TASK_STATE_COMPLETED') return told(answerOf(task));
      }
      const frames = known
        ? client.resubscribeTask({ tenant: '', id: taskId })
        : client.sendMessageStream(sending(text, { messageId, contextId }));
      const heardFrames: Parameters<typeof heard>[0][number][] = [];
      for await (const frame of frames) {
        heardFrames.push(frame);
        taskId ||= taskIdOf(heardFrames);
      }
      const { words, texts } = heard(heardFrames);
      const ends = words.filter((word) => word.endsWith('TASK_STATE_COMPLETED'));
      requireEnd(ends.length > 0);
      expect(ends).toEqual(words.slice(-1));
      return told(texts);
    };
  },
  MCP: (turn) => {
    const { url, threadId: thread, text: message, id: execution, before } = turn;
    let asked = 0;
    return async () => {
      asked += 1;
      const mode = asked % 2 === 0 ? 'auto' : 'legacy';
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      // A broken stream is reported only here; the call itself would wait for its timeout.
      const broken = new Promise<never>((_, reject) => {
        client.onerror = reject;
      });
      broken.catch(() => undefined);
      try {
        await Promise.race([
          broken,
          client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`))),
        ]);
        const given = { message, execution, ...(before.length > 0 ? { thread } : {}) };
        const options = { timeout: 600_000 };
        const call = client.callTool({ name: AGENT, arguments: given }, options);
        const { structuredContent } = await Promise.race([broken, call]);
        const told = structuredContent as { thread: string; execution: string; status: string; text: string };
        expect(told).toMatchObject({ status: 'answered', execution });
        return { threadId: told.thread, text: told.text };
      } finally {
        await client.close();
      }
    };
  },
};
