/** Golden runs of governed threads on the engine: what policies, approvals, budgets and waits add to a run's stream. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { WaitAnswer } from '../../src/core/wait/answer.ts';
import { type AgentInput, defineTool } from '../../src/definitions/index.ts';
import type { RunEvent } from '../../src/projections/run/run-event.ts';
import { calls, type ScriptStep, says, scriptedModel } from '../../src/testing/index.ts';
import { testRuntime } from '../support/runtime.ts';
import { collect, expectGolden, expectWhole } from './golden.ts';

const published: string[] = [];

const publish = defineTool({
  description: 'publishes',
  args: z.object({ id: z.string() }),
  capabilities: ['records.write'],
  prepareAction: ({ id }) => ({
    description: `Publishes ${id}`,
    artifacts: [{ name: 'update', mediaType: 'application/json', content: { id, status: 'published' } }],
  }),
  execute: async (_state, { id }) => {
    published.push(id);
    return { status: 'success', result: `${id} is published` };
  },
});

const ask = defineTool({
  description: 'asks',
  asks: true,
  execute: async (state) => {
    const { value } = await state.ask({ key: 'name', question: 'For whom?' });
    return { status: 'success', result: `booked for ${value}` };
  },
});

/** Runs once, answers its waits in order, and returns all events of the run. */
async function governedRun(
  script: readonly ScriptStep[],
  agent: Partial<AgentInput>,
  answers: readonly WaitAnswer[] = [],
): Promise<RunEvent[]> {
  published.length = 0;
  const runtime = await testRuntime({ model: scriptedModel([...script]), tools: { publish, ask }, agent });
  const { client } = runtime;
  const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
  await client.waitForIdle(threadId);
  for (const answer of answers) {
    const [wait] = await client.listWaits({ threadId });
    if (!wait) throw new Error('Nothing waits.');
    await client.answerWait(wait.id, answer);
    await client.waitForIdle(threadId);
  }
  const [run] = await client.runs.list({ threadId });
  const told = await collect(client.events(threadId, { as: 'run', run: run?.id, follow: false }));
  const events = told.map(({ event }) => event);
  expectWhole(events);
  return events;
}

const only = (events: readonly RunEvent[], ...types: string[]) =>
  events.filter(({ type }) => types.includes(type));

const APPROVAL = { policy: { 'records.write': 'require_approval' } } as const;

describe('RunEvents of a governed thread', () => {
  it('[PL-21] an approved action follows the spec: requested, decided, done once', async () => {
    const events = await governedRun([calls('publish', { id: '42' }), says('done')], APPROVAL, [
      { approved: true, by: 'operator' },
    ]);
    expectGolden('approval', events);
    expect(published).toEqual(['42']);
    const about = events.filter(({ type }) => /^(action|approval)\./.test(type));
    const [id] = about.map(({ action_id: action }) => action);
    expect(new Set(about.map((event) => event.action_id))).toEqual(new Set([id]));
    expect(new Set(about.map((event) => event.span_id)).size).toBe(1);
    const [required, decided] = only(events, 'approval.required', 'approval.decided');
    const request = required?.payload.request as { request_id: string };
    expect(request).toMatchObject({
      run_id: events[0]?.run_id,
      action: {
        action_id: id,
        kind: 'tool.call',
        name: 'publish',
        description: 'Publishes 42',
        payload: { arguments: { id: '42' } },
        capabilities: ['records.write'],
        artifacts: [
          {
            action_id: id,
            kind: 'preview',
            name: 'update',
            media_type: 'application/json',
            parts: [{ type: 'json', content: { id: '42', status: 'published' } }],
          },
        ],
      },
    });
    expect(decided?.payload.decision).toMatchObject({
      request_id: request.request_id,
      approved: true,
      decided_by: 'operator',
    });
  });

  it('[PL-10] a refused action is denied with the reason, and never starts', async () => {
    const events = await governedRun([calls('publish', { id: '42' }), says('a pity')], APPROVAL, [
      { approved: false, reason: 'not today', by: 'operator' },
    ]);
    expectGolden('refusal', events);
    expect(published).toEqual([]);
    expect(only(events, 'action.denied')[0]?.payload).toMatchObject({
      code: 'ActionDenied',
      reason: 'operator refused its approval: not today',
    });
  });

  it('[PL-07] a denial without an approval appears if approvals are refused', async () => {
    const events = await governedRun([calls('publish', { id: '42' }), says('a pity')], {
      policy: { rules: APPROVAL.policy, approvals: 'refuse' },
    });
    expectGolden('unapproved', events);
    expect(only(events, 'approval.required', 'action.started')).toEqual([]);
    expect(only(events, 'action.denied')[0]?.payload).toMatchObject({ code: 'ApprovalRequired' });
  });

  it('[PL-18] a budget warns, then ends the run as failed', async () => {
    const events = await governedRun([calls('publish', { id: '1' }), calls('publish', { id: '2' })], {
      budget: { maxToolCalls: 1 },
    });
    expectGolden('budget', events);
    expect(published).toEqual(['1']);
    const [warning, exceeded] = only(events, 'budget.warning', 'budget.exceeded');
    expect(warning?.payload.decision).toMatchObject({
      effect: 'warn',
      limit_name: 'max_tool_calls',
      observed: 1,
      limit: 1,
    });
    expect(exceeded?.payload.decision).toMatchObject({
      effect: 'deny',
      limit_name: 'max_tool_calls',
      observed: 2,
    });
    expect(events.at(-1)?.payload).toMatchObject({ new_state: 'failed' });
  });

  it('[PL-21] a question is a task that needs input, until it is answered', async () => {
    const events = await governedRun([calls('ask'), says('done')], {}, [{ value: 'Ada', by: 'operator' }]);
    expectGolden('question', events);
    const [, asked, answered] = only(events, 'task.status');
    expect(asked?.payload).toMatchObject({
      new_state: 'input-required',
      request: { kind: 'question', name: 'ask', action: { name: 'ask' } },
    });
    // The person's answer may be a secret.
    expect(JSON.stringify(answered?.payload)).not.toContain('Ada');
    expect(answered?.payload).toMatchObject({ new_state: 'working', decision: { decided_by: 'operator' } });
  });
});
