/**
 * Approvals that an earlier release has asked for: its fingerprints hold name, arguments and what is prepared, but not
 * the parameters and the version of the tool.
 */
import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { canonicalJson } from '../../src/core/value/canonical-json.ts';
import { defineTool } from '../../src/definitions/index.ts';
import type { Wait } from '../../src/store/port/wait.ts';
import { calls, type ScriptStep, says, scriptedModel } from '../../src/testing/index.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';
import { addressOf } from '../support/worker-pool.ts';

const FORMER = createHash('sha256')
  .update(
    canonicalJson({
      ...{ kind: 'tool.call', name: 'pay', capabilities: ['money.move'] },
      ...{ args: { cents: 5 }, artifacts: [] },
    }),
  )
  .digest('hex');

/** Gives the wait and its action the fingerprint that the earlier release gave them. */
function makeFormer({ store }: TestRuntime, { id, fingerprint }: Wait): void {
  const database = new DatabaseSync(addressOf(store).replace(/^sqlite:|\?.*/g, ''));
  database
    .prepare(`update waits set fingerprint = ?, "key" = replace("key", ?, ?) where id = ?`)
    .run(FORMER, fingerprint, FORMER, id);
  database.prepare('update actions set fingerprint = ? where fingerprint = ?').run(FORMER, fingerprint);
  database.close();
}

/** A thread that has asked for the approval of `pay` by an earlier release. */
async function asking(script: readonly ScriptStep[]) {
  const paid: number[] = [];
  const pay = defineTool({
    description: 'pays',
    args: z.object({ cents: z.number() }),
    capabilities: ['money.move'],
    execute: async (_state, { cents }) => {
      paid.push(cents);
      return { status: 'success', result: 'paid' };
    },
  });
  const shop = defineTool({
    description: 'shops',
    execute: (state) => state.invokeTool('pay', { cents: 5 }),
  });
  const model = scriptedModel(script);
  const agent = { policy: { 'money.*': 'require_approval' } } as const;
  const runtime = await testRuntime({ model, tools: { pay, shop }, agent });
  const { client } = runtime;
  const threadId = await runtime.start('go');
  const waits = () => client.listWaits({ threadId });
  const [wait] = await waits();
  if (!wait) throw new Error('Nothing waits.');
  makeFormer(runtime, wait);
  const answer = async (decision: { approved: boolean; scope?: 'thread' }) => {
    expect(await client.answerWait(wait.id, { ...decision })).toEqual({ outcome: 'taken' });
    return client.waitForIdle(threadId);
  };
  return { runtime, client, threadId, paid, wait, waits, answer };
}

const PAY = calls('pay', { cents: 5 });

describe('an approval that an earlier release has asked for', () => {
  it('[PL-09] lets its own call be done, and is asked again for the next, whatever its scope', async () => {
    const { client, threadId, paid, wait, waits, answer } = await asking([PAY, PAY, says('done')]);
    expect(await answer({ approved: true, scope: 'thread' })).toMatchObject({ status: 'waiting' });
    expect(paid).toEqual([5]);
    const [next] = await waits();
    expect(next?.fingerprint).not.toBe(FORMER);
    expect(next?.fingerprint).toBe(wait.fingerprint);
    await client.answerWait(next?.id ?? '', { approved: true, scope: 'thread' });
    expect(await client.waitForIdle(threadId)).toMatchObject({ status: 'idle' });
    expect(paid).toEqual([5, 5]);
    const states = (await client.listActions({ threadId })).map(({ state }) => state);
    expect(states).toEqual(['completed', 'completed']);
  });

  it('[PL-10] refuses its call, and the same in that execution', async () => {
    const { client, threadId, paid, waits, answer } = await asking([PAY, PAY, says('done')]);
    expect(await answer({ approved: false })).toMatchObject({ status: 'idle' });
    expect(paid).toEqual([]);
    expect(await waits()).toEqual([]);
    const states = (await client.listActions({ threadId })).map(({ state }) => state);
    expect(states).toEqual(['denied', 'denied']);
  });

  it('[PL-07] for code is not opened twice, and lets one call pass', async () => {
    const script = Array.from({ length: 4 }, () => [calls('shop', {}), says('ok')]).flat();
    const { runtime, threadId, paid, wait, waits, answer } = await asking(script);
    await runtime.say(threadId, 'again');
    expect(await waits()).toMatchObject([{ id: wait.id }]);
    await answer({ approved: true });
    await runtime.say(threadId, 'again');
    expect(paid).toEqual([5]);
    await runtime.say(threadId, 'again');
    expect(paid).toEqual([5]);
    expect(await waits()).toMatchObject([{ fingerprint: wait.fingerprint }]);
  });
});
