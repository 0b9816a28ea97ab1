/**
 * Budgets while worker processes are killed. A family has spent what its provider counted for each request whose end
 * was seen; a request whose end was not seen counts with its reserved amount and is marked. No limit is exceeded.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EventKind, eventsOf } from '../../src/core/event/thread-event.ts';
import type { RunLimits } from '../../src/core/governance/run-limit.ts';
import { eventually } from '../support/eventually.ts';
import { type Cluster, startCluster } from '../support/fault-cluster.ts';
import { faultScript } from '../support/fault-project.ts';
import { killWorker } from '../support/ordeal.ts';
import { seededRandom } from '../support/seeded-random.ts';

/** Usage that the provider reports for every answer. */
const ANSWER = { promptTokens: 7, completionTokens: 3, totalTokens: 10 };
const WIDE = { maxSteps: 1000, maxLlmCalls: 1000, maxToolCalls: 1000, maxRuntimeSeconds: 100_000 };
const AMOUNTS = { maxInputTokens: 1_000_000, maxOutputTokens: 1_000_000 };
const KILLS = 2;

describe(`budgets, while ${KILLS} workers are killed`, () => {
  let cluster: Cluster;

  beforeAll(async () => {
    const script = faultScript();
    cluster = await startCluster({
      script: async (request, index) => {
        const step = await script(request, index);
        return step.kind === 'answer' ? { ...step, usage: ANSWER } : step;
      },
    });
    await cluster.keep(2);
  });
  afterAll(() => cluster?.close());

  const begin = async (content: string, budget: RunLimits) => {
    const messages = [{ content, context: { budget } }];
    const { threadId } = await cluster.client.startThread({ agent: 'helper', messages });
    return threadId;
  };
  const logs = async (root: string) => {
    const children = (await cluster.store.children.list(root)).map(({ threadId }) => threadId);
    return Promise.all([root, ...children].map((id) => cluster.store.events.read(id, 0, 1_000_000)));
  };
  const count = async (root: string, kind: EventKind) =>
    (await logs(root)).flatMap((log) => eventsOf(log, kind)).length;
  /** Number of distinct calls begun. An idempotent call begins again if its worker was lost, but is paid for once. */
  const callsOf = async (root: string) =>
    (await logs(root))
      .map((log) => eventsOf(log, 'tool.started').map(({ step, data }) => `${step} ${data.callId}`))
      .reduce((sum, begun) => sum + new Set(begun).size, 0);
  const linesOf = async (root: string) =>
    Object.fromEntries((await cluster.store.budgets.read(root)).map((line) => [line.limit, line]));

  it('[PL-20] are charged once for each request and each call, and never exceeded', async () => {
    const wide = { ...WIDE, ...AMOUNTS };
    const roots = await Promise.all([
      begin('use linger 5', wide),
      begin('use set 5', wide),
      begin('delegate x', wide),
    ]);
    const narrow = await begin('use linger 50', { maxLlmCalls: 6, ...AMOUNTS });
    const all = [...roots, narrow];
    const random = seededRandom('budgets');
    for (let kill = 1; kill <= KILLS; kill++) {
      // Each worker dies in the middle of its work.
      await eventually(`${4 * kill} requests`, () => cluster.model.requests.length >= 4 * kill);
      await killWorker(cluster, random);
    }
    await Promise.all(all.map((id) => cluster.client.waitForIdle(id)));

    for (const root of all) {
      const lines = await linesOf(root);
      const [called, answered] = [await count(root, 'model.called'), await count(root, 'model.answered')];
      expect(lines.maxLlmCalls).toMatchObject({ used: called });
      // A request whose end was not seen counts with its reserved amount.
      for (const [limit, each] of [
        ['maxInputTokens', ANSWER.promptTokens],
        ['maxOutputTokens', ANSWER.completionTokens],
      ] as const) {
        const { used = 0, reserved, estimated = 0, max = 0 } = lines[limit] ?? {};
        expect(used - estimated).toBe(each * answered);
        expect(estimated > 0).toBe(called > answered);
        expect(reserved).toBe(0);
        expect(used).toBeLessThanOrEqual(max);
      }
    }
    const requests = await Promise.all(all.map((root) => count(root, 'model.called')));
    // Each request has its row before it is sent.
    expect(cluster.model.requests.length).toBeLessThanOrEqual(requests.reduce((sum, each) => sum + each));
    for (const root of roots) {
      expect(await linesOf(root)).toMatchObject({
        maxToolCalls: { used: await callsOf(root) },
        maxRuntimeSeconds: { used: expect.any(Number) },
      });
      expect(await cluster.client.getThread(root)).toMatchObject({ status: 'idle', lastError: null });
    }
    expect(await linesOf(narrow)).toMatchObject({ maxLlmCalls: { used: 6, max: 6 } });
    expect(await cluster.client.getThread(narrow)).toMatchObject({ lastError: { code: 'BudgetExceeded' } });
  }, 200_000);
});
