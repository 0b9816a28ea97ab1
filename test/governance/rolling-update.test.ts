/**
 * A rolling update: an old and a new worker serve one task queue, each with its own definitions. Both have a single
 * slot for activities, so the one whose slot is held takes nothing, and the test knows which of them does the work.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { Decision } from '../../src/core/wait/answer.ts';
import { type AgentInput, definePolicy, defineTool } from '../../src/definitions/index.ts';
import { calls, type RecordedRequest, says, scriptedModel } from '../../src/testing/index.ts';
import { eventsOf } from '../support/effects.ts';
import { holding } from '../support/holding.ts';
import { type TestRuntime, testRuntime, testStore } from '../support/runtime.ts';

/** Calls the tool that the newest message names, once. */
function callNamed({ messages }: RecordedRequest) {
  const last = messages.at(-1);
  return last?.role === 'user' ? calls(String(last.content), { cents: 5 }) : says('done');
}

interface Build {
  readonly name: string;
  readonly policy: AgentInput['policy'];
  readonly say?: string;
  readonly more?: Readonly<Record<string, z.ZodType>>;
  readonly version?: string;
}

const ASKED = 'require_approval';
const RULES = { 'money.*': ASKED, 'mail.send': ASKED, 'data.read': 'allow' } as const;
const ASKS = { rules: RULES, evaluate: 'guard' } as const;
const OLD: Build = { name: 'old', policy: ASKS, version: '1' };
const NEW: Build = {
  name: 'new',
  policy: { ...ASKS, rules: { ...RULES, 'mail.send': 'deny' } },
  say: 'in other words',
  // Left out by the model: the arguments that are done are the same.
  more: { to: z.string().optional() },
  version: '2',
};

async function rolling() {
  const done: string[] = [];
  const place = { store: await testStore(), taskQueue: `rolling-${randomUUID()}` };
  const start = async ({ name: build, policy, say = 'in words', more = {}, version = '1' }: Build) => {
    const tool = (name: string, fields: object = {}, takes: Build['more'] = {}) =>
      defineTool({
        description: say,
        args: z.object({ cents: z.number().describe(say), ...takes }),
        capabilities: ['money.move'],
        ...fields,
        execute: async () => {
          done.push(`${name} by ${build}`);
          return { status: 'success', result: build };
        },
      });
    const held = holding();
    const tools = {
      described: tool('described'),
      widened: tool('widened', {}, more),
      versioned: tool('versioned', { version }),
      mailed: tool('mailed', { capabilities: ['mail.send'] }),
      evaluated: tool('evaluated', { capabilities: ['data.read'], version }),
      hold: held.tool,
    };
    const model = scriptedModel(callNamed);
    const configuration = { maxConcurrentActivities: 1 };
    const policies = {
      guard: definePolicy({ evaluate: ({ name }) => (name === 'evaluated' ? ASKED : null) }),
    };
    const options = { model, tools, policies, agent: { policy }, configuration };
    return { ...(await testRuntime({ ...options, ...place })), held };
  };
  const old = await start(OLD);
  const { client } = old;
  const begin = async (tool: string) => {
    const messages = [{ content: tool }];
    return (await client.startThread({ agent: 'helper', messages })).threadId;
  };
  /** Starts a thread whose call waits for its approval. */
  const ask = async (tool: string) => {
    const threadId = await begin(tool);
    expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'waiting' });
    return threadId;
  };
  const answer = async (threadId: string, decision: Decision) => {
    const [wait] = await client.listWaits({ threadId });
    expect(await client.answerWait(wait?.id ?? '', decision)).toEqual({ outcome: 'taken' });
    return client.waitForIdle(threadId);
  };
  const approve = (threadId: string) => answer(threadId, { approved: true, scope: 'thread' });
  /** Occupies the only slot of the one worker that has a free one; returns the function that frees it. */
  const occupy = async (worker: Pick<typeof old, 'held'>) => {
    await begin('hold');
    return worker.held.begun(0);
  };
  return { old, client, done, start, ask, answer, approve, occupy };
}

const asked = async (runtime: TestRuntime, threadId: string) =>
  (await eventsOf(runtime, threadId, 'action.requested')).length;

describe('while an old and a new worker run', () => {
  it('[PL-09] an approval applies to the definition it was requested for: not to other parameters, version or policy', async () => {
    const { old, done, start, ask, approve, occupy } = await rolling();
    const [described, widened, versioned, mailed] = [
      await ask('described'),
      await ask('widened'),
      await ask('versioned'),
      await ask('mailed'),
    ];
    const free = await occupy(old);
    await start(NEW);
    expect(await approve(described)).toMatchObject({ status: 'idle' });
    expect(await asked(old, described)).toBe(1);
    for (const [name, threadId] of Object.entries({ widened, versioned })) {
      expect(await approve(threadId)).toMatchObject({ status: 'waiting' });
      expect(done).not.toContain(`${name} by new`);
      expect(await asked(old, threadId)).toBe(2);
      expect(await approve(threadId)).toMatchObject({ status: 'idle' });
    }
    expect(await approve(mailed)).toMatchObject({ status: 'idle' });
    expect(await eventsOf(old, mailed, 'action.denied')).toMatchObject([{ data: { code: 'ActionDenied' } }]);
    expect(done).toEqual(['described by new', 'widened by new', 'versioned by new']);
    free();
  });

  it('[PL-09a] changed arguments are asked for once more if the schema or the version is another one by then', async () => {
    const { old, done, start, ask, answer, approve, occupy } = await rolling();
    const threads = {
      widened: await ask('widened'),
      versioned: await ask('versioned'),
      evaluated: await ask('evaluated'),
    };
    const free = await occupy(old);
    await start(NEW);
    for (const [name, threadId] of Object.entries(threads)) {
      const changed = { approved: true, arguments: { cents: 2 } };
      expect(await answer(threadId, changed)).toMatchObject({ status: 'waiting' });
      expect(done).not.toContain(`${name} by new`);
      expect(await approve(threadId)).toMatchObject({ status: 'idle' });
    }
    expect(done).toEqual(['widened by new', 'versioned by new', 'evaluated by new']);
    free();
  });

  it('[PL-09] the old worker answers with its own definitions, and the new one asks again about its approvals', async () => {
    const { old, client, done, start, ask, approve, occupy } = await rolling();
    const [widened, mailed] = [await ask('widened'), await ask('mailed')];
    const freeOld = await occupy(old);
    const freeNew = await occupy(await start(NEW));
    freeOld();
    expect(await approve(widened)).toMatchObject({ status: 'idle' });
    expect(await approve(mailed)).toMatchObject({ status: 'idle' });
    expect(done).toEqual(['widened by old', 'mailed by old']);
    await old.stopWorker();
    freeNew();
    await client.queueMessage(widened, { content: 'widened' });
    expect(await client.waitForIdle(widened)).toMatchObject({ status: 'waiting' });
    expect(done).toEqual(['widened by old', 'mailed by old']);
  });

  it.each([
    ['allows the call', { '*': 'allow' }],
    ['has no policy any more', undefined],
  ] as const)(
    '[PL-10] a denial persists although the new one %s, and an approved action is logged as done',
    async (_, policy) => {
      const { old, client, done, start, ask, answer, approve, occupy } = await rolling();
      const [refused, approved] = [await ask('described'), await ask('mailed')];
      const free = await occupy(old);
      await start({ ...NEW, policy });
      expect(await answer(refused, { approved: false })).toMatchObject({ status: 'idle' });
      expect(await approve(approved)).toMatchObject({ status: 'idle' });
      expect(done).toEqual(['mailed by new']);
      expect(await client.listActions({ threadId: refused })).toMatchObject([{ state: 'denied' }]);
      expect(await client.listActions({ threadId: approved })).toMatchObject([{ state: 'completed' }]);
      free();
    },
  );
});
