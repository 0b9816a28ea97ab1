/**
 * Clients that others have made, as they are published. Each tells an agent a text, and has in the end what was answered, with one mark of its end; asked again
 * after it was cut off, it comes back in its own way. It throws where it was told no end.
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
  /** Clients that name their threads use this one. */
  readonly threadId: string;
  /** What was said before in the thread, and answered. */
  readonly before: readonly (readonly [said: string, answer: string])[];
  readonly text: string;
  /** The same for every attempt at it. */
  readonly id: string;
}

export interface ToldTurn {
  readonly threadId: string;
  readonly text: string;
}

/** Begins a turn; each call of what it answers is one attempt. */
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

/** A stream that breaks just ends: AG-UI's client cancels what has failed, and leaves unhandled that it cannot (1.0.0). */
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
    const stream = await openai(turn).chat.completions.create({
      ...completion(turn),
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await collect(stream);
    const ends = chunks.flatMap(({ choices }) => choices).filter(({ finish_reason: end }) => end !== null);
    requireEnd(ends.length > 0 && chunks.at(-1)?.usage != null);
    expect(ends).toHaveLength(1);
    const text = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta.content ?? '')).join('');
    return { threadId, text };
  },
  'openai, as a whole': (turn) => async () => {
    const { choices } = await openai(turn).chat.completions.create(completion(turn));
    return { threadId: turn.threadId, text: choices[0]?.message.content ?? '' };
  },
  'the AI SDK, by its OpenAI-compatible provider': (turn) => async () => {
    const { url, threadId } = turn;
    const provider = createOpenAICompatible({ name: 'everthread', baseURL: `${url}/v1` });
    const failures: unknown[] = [];
    const { textStream } = streamText({
      model: provider(AGENT),
      messages: completion(turn).messages,
      headers: { 'x-thread-id': threadId },
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
      // Else the client writes it to the console; its types do not have what it reads.
      onRunFailed: () => ({ stopPropagation: true }) as never,
    });
    await agent.runAgent({ runId: id });
    requireEnd(ends > 0);
    expect(ends).toBe(1);
    expect(agent.messages.filter((message) => message.id === id)).toHaveLength(1);
    // A step's text is a message of its own. The client puts what it is told behind its own message, so what was said before is told there.
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
      // A stream that breaks is told here alone: the call itself would wait for its time.
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
