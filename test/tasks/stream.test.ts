/** The stream of a task, and which content it reveals to whom. */
import { describe, expect, it } from '@jest/globals';
import { defineTask } from '../../src/definitions/index.ts';
import type { RuntimeStreamEvent } from '../../src/projections/task/stream-event.ts';
import { toTelemetry } from '../../src/projections/task/task-telemetry.ts';
import { eventually } from '../support/runtime.ts';
import { taskRuntime } from './task-runtime.ts';

const SECRET = 'words of a user';

const telling = defineTask<{ done: number }, { type: string; what: string }>({
  observe: ({ history }) => ({ done: history.length }),
  validate: ({ state }) => [{ id: 'done', passed: state.done > 0 }],
  decide: () => ({ kind: 'act', action: { type: 'draft', what: SECRET } }),
  async act(_, { emit }) {
    await emit({ type: 'tool_call', toolName: 'write', args: { text: SECRET } });
    await emit({ type: 'text_delta', text: 'Hello ' });
    await emit({ type: 'text_delta', text: SECRET });
    await emit({ type: 'llm_call', model: 'm-1', tokensIn: 3, tokensOut: 4 });
    await emit({ type: 'artifact', artifactId: 'a1', uri: `file:${SECRET}`, content: SECRET });
    await emit({ type: 'proposal_created', proposalId: 'p1', title: SECRET });
    await emit({ type: 'tool_result', toolName: 'write', result: SECRET });
    return SECRET;
  },
});

describe('the stream of a task', () => {
  it('[TG-03] has its phases in order, events of its adapter within them, and one end with the whole text', async () => {
    const { client } = await taskRuntime({ telling });
    const { id } = await client.tasks.start({ task: 'telling', intent: 'draft' });
    const told = [];
    for await (const each of client.tasks.events(id, { openWithinMs: 60_000 })) told.push(each);
    expect(told.map(({ event }) => event.type)).toEqual([
      ...[
        'task_start',
        'readiness_start',
        'readiness_end',
        'control_start',
        'control_observed',
        'control_decided',
      ],
      ...[
        'control_acting',
        'tool_call',
        'text_delta',
        'text_delta',
        'llm_call',
        'artifact',
        'proposal_created',
      ],
      ...['tool_result', 'control_step', 'control_observed', 'control_end', 'task_end', 'final'],
    ]);
    expect(told.at(-1)?.event).toMatchObject({
      type: 'final',
      taskId: id,
      status: 'completed',
      text: `Hello ${SECRET}`,
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    // From any cursor a reader continues with the next event.
    for (const [index, { cursor }] of told.entries()) {
      const rest = [];
      for await (const each of client.tasks.events(id, { after: cursor })) rest.push(each);
      expect(rest).toEqual(told.slice(index + 1));
    }
    const telemetry = JSON.stringify(told.map(({ event }) => toTelemetry(event)));
    expect(telemetry).not.toContain(SECRET);
    expect(telemetry).toContain('"tokensIn":3');
    expect(JSON.stringify(told.map(({ event }) => toTelemetry(event, { include: ['title'] })))).toContain(
      SECRET,
    );
    const nobody = client.tasks.events('nobody')[Symbol.asyncIterator]().next();
    await expect(nobody).rejects.toMatchObject({ code: 'TaskNotFound' });
  });

  it('has no input, argument, result, address, body or title for telemetry by default', () => {
    const stamp = { taskId: 't', timestamp: '2026-01-01T00:00:00.000Z', step: 0 };
    expect(toTelemetry({ ...stamp, type: 'tool_call', toolName: 'write', args: { secret: 1 } })).toEqual({
      ...stamp,
      type: 'tool_call',
      toolName: 'write',
      args: '[redacted]',
    });
  });
});

describe('the knowledge required by a task', () => {
  const key = {
    id: 'key',
    description: 'Which key?',
    sensitivity: 'secret',
    importance: 'blocking',
  } as const;

  it('[TG-04] blocks it if a blocking secret is missing: no act runs, and the remedy is reported', async () => {
    const acted: unknown[] = [];
    const needing = defineTask({
      requiredKnowledge: [key as never],
      observe: () => 'x',
      decide: () => ({ kind: 'act', action: 'go' }),
      act: (action) => void acted.push(action),
      onKnowledgeBlocked: ({ questions, acquisitionPlans }) => ({
        kind: 'stop',
        pass: false,
        reason: 'blocked',
        outcome: { answerType: questions[0]?.answerType, mode: acquisitionPlans[0]?.mode },
      }),
    });
    const { client } = await taskRuntime({ needing });
    const { id } = await client.tasks.start({ task: 'needing' });
    expect(await client.tasks.wait(id)).toMatchObject({
      status: 'blocked',
      steps: 0,
      verdict: { stoppedBy: 'readiness', outcome: { answerType: 'credential', mode: 'ask_user' } },
    });
    expect(acted).toEqual([]);
    const types = [];
    for await (const { event } of client.tasks.events(id)) types.push(event.type);
    expect(types).toEqual(['task_start', 'readiness_start', 'readiness_end', 'task_end', 'final']);
  });

  it('[TG-10] of a blocked task: the exact sequence, and the reason in its last event', async () => {
    const needing = defineTask({
      observe: () => 'x',
      decide: () => ({ kind: 'act', action: 'go' }),
      act: () => 'done',
    });
    const { client } = await taskRuntime({ needing });
    const requiredKnowledge = [{ ...key, sensitivity: 'public' } as never];
    const { id } = await client.tasks.start({ task: 'needing', requiredKnowledge });
    await client.tasks.wait(id);
    const told: RuntimeStreamEvent[] = [];
    for await (const { event } of client.tasks.events(id)) told.push(event);
    expect(told.map(({ type }) => type)).toEqual([
      'task_start',
      'readiness_start',
      'readiness_end',
      'task_end',
      'final',
    ]);
    expect(told.at(-1)).toMatchObject({ status: 'blocked', reason: 'knowledge readiness blocked: key' });
  });

  it('[TG-05] is asked of people, each question once, and the loop starts with their answers', async () => {
    const asking = defineTask<{ key: unknown }>({
      asks: true,
      requiredKnowledge: [key as never, { id: 'region', description: 'Where?', importance: 'high' } as never],
      observe: ({ answers }) => ({ key: answers.key }),
      decide: ({ answers, knowledge }) => ({
        kind: 'stop',
        pass: true,
        reason: 'known',
        outcome: { answers, score: knowledge.readinessScore },
      }),
    });
    const { client } = await taskRuntime({ asking });
    const { id } = await client.tasks.start({ task: 'asking' });
    await client.tasks.wait(id);
    // The questions are opened one after the other.
    const waits = await eventually('both questions', async () => {
      const open = await client.listWaits({ threadId: `task/${id}` });
      return open.length === 2 ? open : undefined;
    });
    expect(waits.map(({ name, kind }) => [name, kind])).toEqual([
      ['key', 'question'],
      ['region', 'question'],
    ]);
    const answers: Record<string, string> = { key: 'API_KEY', region: 'eu' };
    for (const { id: wait, name } of waits) await client.answerWait(wait, { value: answers[name] });
    const told: RuntimeStreamEvent[] = [];
    for await (const { event } of client.tasks.events(id)) told.push(event);
    expect(told.at(-1)).toMatchObject({ status: 'completed' });
    expect((await client.tasks.get(id)).verdict?.outcome).toEqual({ answers, score: 1 });
    const count = (type: string) => told.filter((event) => event.type === type).length;
    expect([count('questions_start'), count('questions_end'), count('control_start')]).toEqual([1, 1, 1]);
  });

  it('is found by its provider, and its findings are refreshed once', async () => {
    const found = defineTask({
      requiredKnowledge: [
        {
          id: 'docs',
          description: 'Docs?',
          importance: 'blocking',
          acquisitionMode: 'search_web',
          fallbackPolicy: 'block',
        } as never,
        { id: 'who', description: 'Who?', importance: 'blocking' } as never,
      ],
      knowledge: {
        answerQuestions: ({ questions }) =>
          Object.fromEntries(questions.map(({ requirementId }) => [requirementId, 'ada'])),
        executeAcquisitionPlans: ({ plans }) =>
          Object.fromEntries(
            plans.flatMap(({ requirementIds }) => requirementIds.map((each) => [each, ['e1']])),
          ),
      },
      observe: ({ answers, knowledge }) => ({
        answers,
        evidence: knowledge.requirements.flatMap(({ evidenceIds }) => evidenceIds),
      }),
      decide: ({ state }) => ({ kind: 'stop', pass: true, reason: 'known', outcome: state }),
    });
    const { client } = await taskRuntime({ found });
    const { id } = await client.tasks.start({ task: 'found' });
    expect(await client.tasks.wait(id)).toMatchObject({
      status: 'completed',
      verdict: { outcome: { answers: { who: 'ada' }, evidence: ['answer_docs', 'e1', 'answer_who'] } },
    });
    const told = [];
    for await (const { event } of client.tasks.events(id)) told.push(event.type);
    expect(told.slice(0, 9)).toEqual([
      ...[
        'task_start',
        'readiness_start',
        'questions_start',
        'questions_end',
        'acquisition_start',
        'acquisition_end',
      ],
      ...['readiness_start', 'readiness_end', 'control_start'],
    ]);
  });
});
