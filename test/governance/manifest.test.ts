/** The composition of a model request is logged before it is sent, if a context, a policy or a budget is in use. */
import { describe, expect, it } from '@jest/globals';
import type { AgentInput } from '../../src/definitions/index.ts';
import { calls, fails, type Script, says, scriptedModel } from '../../src/testing/index.ts';
import { tools } from '../replay/quick-scenarios.ts';
import { testRuntime } from '../support/runtime.ts';

const SCRIPT = () => [calls('quick'), says('done')];

async function lived(agent: Partial<AgentInput>, context?: { runId: string }, script: Script = SCRIPT()) {
  const runtime = await testRuntime({ model: scriptedModel(script), tools, agent });
  const messages = [{ content: 'What is the weather like in Paris today?', ...(context ? { context } : {}) }];
  const { threadId } = await runtime.client.startThread({ agent: 'helper', messages });
  const record = await runtime.client.waitForIdle(threadId);
  const events = await runtime.store.events.read(threadId, 0, 1000);
  return { runtime, threadId, record, events };
}

describe('a manifest', () => {
  it.each<[string, Partial<AgentInput>, { runId: string } | undefined]>([
    ['a context', {}, { runId: 'run_1' }],
    ['a policy', { policy: { 'money.*': 'deny' } }, undefined],
    ['a budget', { budget: { maxSteps: 9 } }, undefined],
  ])('[PL-28] is logged before each request if %s is in use', async (_what, agent, context) => {
    const { events } = await lived(agent, context);
    const told = events.filter(({ type }) => type === 'context.prepared' || type === 'model.called');
    expect(told.map(({ type, step }) => [type, step])).toEqual([
      ['context.prepared', 1],
      ['model.called', 1],
      ['context.prepared', 2],
      ['model.called', 2],
    ]);
  });

  it('[PL-28] is logged for a retry too', async () => {
    const failing = [fails({ status: 503, message: 'busy' }), says('done')];
    const { runtime, threadId } = await lived({ policy: {} }, undefined, failing);
    const manifests = await runtime.client.listManifests(threadId);
    expect(manifests.map(({ step, manifest }) => [step, manifest.call])).toEqual([
      [1, 1],
      [1, 2],
    ]);
    expect(manifests[0]?.countedTokens).toBeNull();
  });

  it('[PL-28] is not logged if none of them is in use', async () => {
    const { events, runtime, threadId } = await lived({});
    expect(events.filter(({ type }) => type === 'context.prepared')).toEqual([]);
    expect(await runtime.client.listManifests(threadId)).toEqual([]);
  });

  it('[PL-29] adds up by section, and can be compared with the provider’s count', async () => {
    const { runtime, threadId, events } = await lived({}, { runId: 'run_1' });
    const [first, second] = await runtime.client.listManifests(threadId);
    for (const each of [first, second]) {
      const { systemTokens, toolPromptTokens, historyTokens, userTokens, totalEstimatedTokens } =
        each?.manifest ?? fail();
      expect(systemTokens + toolPromptTokens + historyTokens + userTokens).toBe(totalEstimatedTokens);
      expect([systemTokens, toolPromptTokens, userTokens].every((tokens) => tokens > 0)).toBe(true);
    }
    // In the second request the call and its result are history; the user's part is the same.
    expect(first?.manifest.historyTokens).toBe(0);
    expect(second?.manifest.historyTokens).toBeGreaterThan(0);
    expect(second?.manifest).toMatchObject({ userTokens: first?.manifest.userTokens });
    const answered = events.flatMap((event) => (event.type === 'model.answered' ? [event.data.usage] : []));
    expect([first?.countedTokens, second?.countedTokens]).toEqual(
      answered.map((usage) => usage?.promptTokens),
    );
  });

  it('[PL-29] has the total that a budget requires: one token less, and nothing is sent', async () => {
    const { runtime, threadId } = await lived({ budget: { maxInputTokens: 100_000 } }, undefined, [
      says('done'),
    ]);
    const [{ manifest } = fail()] = await runtime.client.listManifests(threadId);
    const maxInputTokens = manifest.totalEstimatedTokens - 1;
    const { events, record } = await lived({ budget: { maxInputTokens } }, undefined, []);
    expect(record).toMatchObject({ status: 'failed', lastError: { code: 'BudgetExceeded' } });
    const exceeded = events.flatMap((event) =>
      event.type === 'budget.exceeded' ? [event.data.observed] : [],
    );
    expect(exceeded).toEqual([manifest.totalEstimatedTokens]);
    expect(events.filter(({ type }) => type === 'context.prepared')).toEqual([]);
  });
});

function fail(): never {
  throw new Error('There is no manifest.');
}
