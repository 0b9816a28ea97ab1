/** Chat turns as lines, on a real engine: started, streamed, stored; by clients that disconnect and return. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { executionPages } from '../../src/client/named-execution.ts';
import { deriveExecutionId } from '../../src/core/thread/execution-id.ts';
import { defineTool } from '../../src/definitions/index.ts';
import {
  type Box,
  type BoxEvent,
  type ChatTurnLine,
  clientBox,
  createChatTurnHandler,
  handleChatTurn,
  persistTurns,
  remoteBox,
  type TurnKeeper,
} from '../../src/faces/tangle/index.ts';
import { calls, fails, type ScriptStep, says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { type RuntimeOptions, testRuntime } from '../support/runtime.ts';
import { type Line, readLines } from '../support/turn-lines.ts';

const typesOf = (lines: readonly Line[]) =>
  lines.map(({ type }) => type).filter((type) => type !== 'message.part.updated');
const textOf = (lines: readonly Line[]) => lines.map(({ data }) => data.delta ?? '').join('');
const identityOf = (sessionId: string, turnIndex = 0) => ({
  ...{ tenantId: 'acme', userId: 'ada' },
  sessionId,
  turnIndex,
});

async function chat(script: readonly ScriptStep[], keeper?: TurnKeeper, more: Partial<RuntimeOptions> = {}) {
  const model = scriptedModel(script);
  const kept = keeper ? { hooks: [persistTurns(keeper)], agent: { hooks: ['persist_turns'] } } : {};
  const runtime = await testRuntime({ model, ...kept, ...more });
  const box = clientBox(runtime.client, { agent: 'helper' });
  const sessionId = randomUUID();
  const say = (message: string, options: Partial<Parameters<typeof handleChatTurn>[0]> = {}) =>
    handleChatTurn({ box, identity: identityOf(sessionId), message, ...options });
  return { runtime, model, box, sessionId, say };
}

describe('handleChatTurn', () => {
  it('[TG-12] sends the envelope first and last, and the agent’s events between', async () => {
    const look = defineTool({ description: 'looks', execute: () => ({ status: 'success', result: 'seen' }) });
    const seen: ChatTurnLine[] = [];
    const flushed: Promise<unknown>[] = [];
    const { say, sessionId } = await chat([calls('look'), says('It is there.')], undefined, {
      tools: { look },
    });
    const { body, contentType, executionId } = say('look', {
      hooks: { onEvent: (line) => void seen.push(line), traceFlush: () => Promise.resolve() },
      waitUntil: (work) => void flushed.push(work),
    });
    expect([contentType, executionId]).toEqual(['application/x-ndjson', `chat:${sessionId}:0`]);
    const lines = await readLines(body);
    expect(typesOf(lines)).toEqual([
      'session.run.started',
      'message.started',
      'llm_call',
      'tool_call',
      'tool_result',
      'message.started',
      'llm_call',
      'result',
      'session.run.completed',
    ]);
    expect(lines[0]?.data).toEqual({ sessionId, tenantId: 'acme', turnIndex: 0 });
    expect(lines.at(-1)?.data).toEqual({ sessionId });
    expect(textOf(lines)).toBe('It is there.');
    expect(seen).toEqual(lines);
    expect(flushed).toHaveLength(1);
  });

  it('[TG-16] ends only the failing turn when another one is running', async () => {
    const { runtime, box, sessionId, say } = await chat([
      fails({ status: 400, message: 'no' }),
      says('Mine.'),
    ]);
    expect(typesOf(await readLines(say('first').body)).at(-1)).toBe('session.run.failed');
    const identity = identityOf(sessionId, 1);
    const executionId = deriveExecutionId({ projectId: 'chat', sessionId, turnIndex: 1 });
    // Pages as read by a client that looked before the first turn failed, and sends the second one now.
    const pages = executionPages(runtime.client, { threadId: sessionId, executionId, since: 1 });
    // Two empty pages: the first with what exists so far, the second because there is no more.
    for (let n = 0; n < 2; n++) expect(await pages.next()).toEqual({ done: false, value: [] });
    await readLines(handleChatTurn({ box, identity, message: 'second' }).body);
    const told: string[] = [];
    for await (const page of pages) told.push(...page.map(({ event }) => event.type));
    expect([told[0], told.at(-1)]).toEqual(['execution.started', 'execution.completed']);
  });

  it('[TG-13] sends the text so far, then the error, and ends the body, when a producer fails', async () => {
    const { say } = await chat([says('Half'), fails({ status: 400, message: 'no' })], undefined, {
      side: { stopOnResponse: false },
    });
    const lines = await readLines(say('go').body);
    expect(textOf(lines)).toBe('Half');
    expect(typesOf(lines).slice(-2)).toEqual(['error', 'session.run.failed']);
    expect(lines.at(-1)?.data.message).toContain('no');
  });

  it('[TG-14] stores the text once before the turn completes, and retries a failed save', async () => {
    const tries: string[] = [];
    const kept: string[] = [];
    const done: string[] = [];
    const { say, sessionId } = await chat([says('Kept.')], {
      persistAssistantMessage({ key, finalText, identity }) {
        tries.push(key);
        if (tries.length < 3) throw new Error('the database is away');
        kept.push(`${identity.userId}: ${finalText}`);
      },
      onTurnComplete: ({ finalText }) => void done.push(finalText),
    });
    let keptBefore: readonly string[] = [];
    const lines = await readLines(say('go').body, ({ type }) => {
      if (type === 'session.run.completed') keptBefore = [...kept];
      return false;
    });
    expect(typesOf(lines).at(-1)).toBe('session.run.completed');
    expect(keptBefore).toEqual(['ada: Kept.']);
    expect(new Set(tries).size).toBe(1);
    expect([kept, done]).toEqual([['ada: Kept.'], ['Kept.']]);
    // The same turn again is replayed, and not kept again.
    expect(await readLines(say('go').body)).toEqual(lines);
    expect([kept.length, sessionId.length]).toEqual([1, 36]);
  });

  it('[TG-14] fails a turn that cannot be stored, with the reason', async () => {
    const { say } = await chat([says('Lost.')], {
      attempts: 2,
      persistAssistantMessage: () => Promise.reject(new Error('the disk is full')),
    });
    const lines = await readLines(say('go').body);
    expect(typesOf(lines).slice(-2)).toEqual(['error', 'session.run.failed']);
    expect(lines.at(-1)?.data.message).toContain('the disk is full');
    expect(textOf(lines)).toBe('Lost.');
  });

  it('[TG-15] may store another text than it streamed', async () => {
    const kept: string[] = [];
    const { say } = await chat([says('Call 555-0100.')], {
      transformFinalText: (text) => text.replaceAll(/\d/g, '#'),
      persistAssistantMessage: ({ finalText }) => void kept.push(finalText),
    });
    const lines = await readLines(say('go').body);
    expect(textOf(lines)).toBe('Call 555-0100.');
    expect(lines.find(({ type }) => type === 'result')?.data).toEqual({ finalText: 'Call 555-0100.' });
    expect(kept).toEqual(['Call ###-####.']);
  });

  it('[TG-16] keeps running when a client disconnects: it resumes from its last id, over HTTP too', async () => {
    const gate = Promise.withResolvers<void>();
    const look = defineTool({
      description: 'looks',
      async execute() {
        await gate.promise;
        return { status: 'success', result: 'seen' };
      },
    });
    const kept: string[] = [];
    const { runtime, say, sessionId } = await chat(
      [calls('look'), says('It is there.')],
      { persistAssistantMessage: ({ finalText }) => void kept.push(finalText) },
      { tools: { look } },
    );
    const left = await readLines(say('go').body, ({ type }) => type === 'tool_call');
    const lastEventId = left.at(-1)?.id;
    gate.resolve();
    const api = await testApi(runtime);
    const handler = createChatTurnHandler({
      box: remoteBox({ url: api.url, agent: 'helper' }),
      readTurn: async (request) => ({ identity: identityOf(sessionId), message: await request.text() }),
    });
    const response = await handler(
      new Request('http://localhost/', {
        method: 'POST',
        body: 'go',
        headers: { 'last-event-id': lastEventId ?? '' },
      }),
    );
    expect(response.headers.get('x-execution-id')).toBe(`chat:${sessionId}:0`);
    const behind = await readLines(response.body as ReadableStream<Uint8Array>);
    expect([...left, ...behind]).toEqual(await readLines(say('go').body));
    expect(kept).toEqual(['It is there.']);
  });

  it('[TG-18] reports another message for the same turn as a conflict, in the body', async () => {
    const { say } = await chat([says('Yes.')]);
    await readLines(say('this').body);
    const lines = await readLines(say('that').body);
    expect(lines).toEqual([
      { type: 'error', data: { message: expect.any(String), code: 'ExecutionConflict' } },
      { type: 'session.run.failed', data: expect.anything() },
    ]);
  });

  it('ends when a person is asked, and continues after the answer', async () => {
    const pay = defineTool({
      description: 'pays',
      confirm: true,
      execute: () => ({ status: 'success', result: 'paid' }),
    });
    const { runtime, say } = await chat([calls('pay'), says('Paid.')], undefined, { tools: { pay } });
    const asked = await readLines(say('pay').body);
    expect(typesOf(asked).slice(-2)).toEqual(['input.required', 'session.run.waiting']);
    const waitId = String(asked.at(-2)?.data.waitId);
    expect(asked.at(-1)?.data.waitIds).toEqual([waitId]);
    // A client that returns before the answer is told again which wait is open, even if its connection broke right
    // before that line.
    for (const line of asked.slice(-2)) {
      const again = await readLines(say('pay', { lastEventId: line.id }).body);
      expect(typesOf(again)).toEqual(['session.run.waiting']);
    }
    await runtime.client.answerWait(waitId, { approved: true });
    const behind = await readLines(say('pay', { lastEventId: asked.at(-1)?.id }).body);
    expect(typesOf(behind)).toEqual([
      'input.closed',
      'tool_result',
      'message.started',
      'llm_call',
      'result',
      'session.run.completed',
    ]);
  });

  it('ignores errors of watchers, and refuses an identity without an id at once', async () => {
    const { say, box } = await chat([says('Fine.')]);
    const logged: string[] = [];
    const boom = () => {
      throw new Error('boom');
    };
    const lines = await readLines(
      say('go', { hooks: { onEvent: boom, traceFlush: boom }, log: (message) => void logged.push(message) })
        .body,
    );
    expect(typesOf(lines).at(-1)).toBe('session.run.completed');
    expect(logged).toHaveLength(lines.length + 1);
    expect(() => handleChatTurn({ box, identity: identityOf('s', -1), message: 'x' })).toThrow(
      expect.objectContaining({ code: 'InvalidValue' }),
    );
  });

  it('runs the turn of a client that disconnects at once', async () => {
    let sent = '';
    const told = Promise.withResolvers<void>();
    const box: Box<BoxEvent> = {
      async *streamPrompt(message, { executionId = '', signal } = {}) {
        await told.promise;
        signal?.throwIfAborted();
        sent = message;
        yield { type: 'execution.started', data: { executionId, sessionId: 's' }, id: '1.0' };
      },
    };
    const works: Promise<unknown>[] = [];
    const waitUntil = (work: Promise<unknown>) => void works.push(work);
    await handleChatTurn({ box, identity: identityOf('s'), message: 'go', waitUntil }).body.cancel();
    told.resolve();
    await Promise.all(works);
    expect(sent).toBe('go');
  });
});
