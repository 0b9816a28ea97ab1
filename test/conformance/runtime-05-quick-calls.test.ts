/** runtime §5: quick calls run within the activity of their step, and all guarantees about calls still hold. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import type { FaultPoint } from '../../src/activities/base/dependencies.ts';
import { defineEffect, defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, says, scriptedModel } from '../../src/testing/index.ts';
import { askWorkflow } from '../support/ask-workflow.ts';
import { ended } from '../support/effects.ts';
import { consulting, resultOf } from '../support/prompt-project.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { activitiesOf } from '../support/scheduled.ts';

const note = defineTool({
  description: 'notes a line',
  quick: true,
  args: z.object({ line: z.string().default('') }),
  execute: (_state, { line }) => ({ status: 'success', result: `noted ${line}` }),
});

/** A tool that stays in its body until it is aborted or released. */
function staying() {
  const aborted = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const tool = defineTool({
    description: 'stays',
    quick: true,
    execute: async ({ execution }) => {
      execution?.abortSignal.addEventListener('abort', () => aborted.resolve());
      await Promise.race([aborted.promise, left.promise]);
      return { status: 'success', result: 'stayed' };
    },
  });
  return { tool, aborted: aborted.promise, letGo: left.resolve };
}

async function begin({ client, store }: TestRuntime, startedTools: number): Promise<string> {
  const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
  await eventually('the tool runs', async () => {
    const events = await store.events.read(threadId, 0);
    return events.filter(({ type }) => type === 'tool.started').length === startedTools;
  });
  return threadId;
}

describe('runtime §5 Tool Execution, quick calls', () => {
  it('[runtime 5.1] run in the returned order in the activity of their step, each result stored separately', async () => {
    const model = scriptedModel([
      callsMany([{ name: 'note', args: { line: 'one' } }, { name: 'nobody' }, { name: 'note' }]),
      says('done'),
    ]);
    const runtime = await testRuntime({ model, tools: { note } });
    const thread = await runtime.start('go');
    expect(await activitiesOf(runtime.client, thread)).toEqual(['openThread', 'modelStep']);
    expect(await runtime.transcript(thread)).toEqual([
      'user: go',
      'assistant:  -> note, nobody, note',
      'tool note success: noted one',
      expect.stringMatching(/^tool nobody error: /),
      'tool note success: noted ',
      'assistant: done',
    ]);
    const events = await runtime.store.events.read(thread, 0);
    expect(events.map(({ type }) => type).filter((type) => /^tool\.(started|result)/.test(type))).toEqual([
      ...['tool.started', 'tool.result', 'tool.started', 'tool.result', 'tool.started', 'tool.result'],
    ]);
  });

  it('[runtime 5.1] run as separate activities after a call that is not quick', async () => {
    const slow = defineTool({ description: 'slow', execute: () => ({ status: 'success', result: 'slow' }) });
    const line = (name: string) => ({ name: 'note', args: { line: name } });
    const model = scriptedModel([callsMany([line('one'), { name: 'slow' }, line('two')]), says('done')]);
    const runtime = await testRuntime({ model, tools: { note, slow } });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread)).slice(2)).toEqual([
      'tool note success: noted one',
      'tool slow success: slow',
      'tool note success: noted two',
      'assistant: done',
    ]);
    const activities = await activitiesOf(runtime.client, thread);
    expect(activities.filter((name) => name === 'runTool')).toHaveLength(2);
  });

  it('[runtime 5.1] run in the activity of their step also if they are not idempotent', async () => {
    const execute = () => ({ status: 'success', result: 'paid' }) as const;
    const pay = defineTool({ description: 'pays', quick: true, idempotent: false, execute });
    const runtime = await testRuntime({ model: scriptedModel([calls('pay'), says('done')]), tools: { pay } });
    const thread = await runtime.start('go');
    expect(await activitiesOf(runtime.client, thread)).not.toContain('runTool');
    expect((await runtime.transcript(thread)).slice(2)).toEqual([
      'tool pay success: paid',
      'assistant: done',
    ]);
  });

  it('[definitions 12.6] of a sub-prompt run in the activity of its model request', async () => {
    const model = scriptedModel([
      calls('consult', { topic: 'x' }),
      callsMany([{ name: 'note', args: { line: 'one' } }, { name: 'note' }]),
      says('done'),
    ]);
    const runtime = await consulting(model, { consult: { tools: ['note'] }, tools: { note } });
    const thread = await runtime.start('go');
    expect(await resultOf(runtime, thread)).toContain('noted one');
    expect(await activitiesOf(runtime.client, thread)).toEqual([
      ...['openThread', 'modelStep', 'runSubprompt', 'finishSubprompt', 'modelStep'],
    ]);
  });

  it('appear in the heartbeats of the activity while they run', async () => {
    const { tool, letGo } = staying();
    const model = scriptedModel([callsMany([{ name: 'note' }, { name: 'stay' }]), says('done')]);
    const runtime = await testRuntime({ model, tools: { note, stay: tool } });
    const thread = await begin(runtime, 2);
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${thread}`);
    await eventually('the activity tells of the call', async () => {
      const { raw } = await handle.describe();
      const [details] = raw.pendingActivities?.[0]?.heartbeatDetails?.payloads ?? [];
      return Buffer.from(details?.data ?? []).toString() === '"running stay (2 of 2)"';
    });
    letGo();
    await runtime.client.waitForIdle(thread);
  });

  it('appear in the details of the workflow once their step is over', async () => {
    const model = scriptedModel([callsMany([{ name: 'nobody' }, { name: 'note' }])]);
    const runtime = await testRuntime({ model, tools: { note }, side: { stopTool: 'note' } });
    const thread = await runtime.start('go');
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${thread}`);
    const metadata = await askWorkflow<{ currentDetails: string }>(handle, '__temporal_workflow_metadata');
    expect(metadata.currentDetails).toContain('- **called:** nobody, note\n');
  });

  it('a stop aborts the running one, and later ones do not start', async () => {
    const { tool, aborted } = staying();
    const model = scriptedModel([callsMany([{ name: 'stay' }, { name: 'note' }]), says('on we go')]);
    const runtime = await testRuntime({ model, tools: { note, stay: tool } });
    const thread = await begin(runtime, 1);
    await runtime.client.stop(thread, 'enough');
    await aborted;
    expect(await runtime.client.waitForIdle(thread)).toMatchObject({
      status: 'stopped',
      stopReason: 'enough',
    });
    expect((await runtime.transcript(thread)).slice(2)).toEqual([
      expect.stringMatching(/^tool stay error: .*stopped/i),
      expect.stringMatching(/^tool note error: .*stopped/i),
    ]);
    await runtime.say(thread, 'again');
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: on we go');
    const events = await runtime.store.events.read(thread, 0);
    expect(events.filter(({ type }) => type === 'tool.started')).toHaveLength(1);
  });

  it('a call with a fault is retried in a separate activity, as are the calls after it', async () => {
    let left = 1;
    const probe = (point: FaultPoint) => {
      if (point === 'tool_not_begun' && left-- === 0) throw new Error('refused once');
    };
    const line = (name: string) => ({ name: 'note', args: { line: name } });
    const model = scriptedModel([callsMany([line('one'), line('two'), line('three')]), says('done')]);
    const runtime = await testRuntime({ model, tools: { note }, probe });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread)).slice(2)).toEqual([
      'tool note success: noted one',
      'tool note success: noted two',
      'tool note success: noted three',
      'assistant: done',
    ]);
    const activities = await activitiesOf(runtime.client, thread);
    expect(activities.filter((name) => name === 'runTool')).toHaveLength(2);
  });

  it('keep the result of their step’s activity small, whatever their names and number', async () => {
    const names = Array.from({ length: 16 }, (_, n) => '名'.repeat(60) + n);
    const model = scriptedModel([callsMany(names.map((name) => ({ name }))), says('done')]);
    const runtime = await testRuntime({ model, tools: { note } });
    const thread = await runtime.start('go');
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: done');
  });

  it('do not start once one of them has ended the thread', async () => {
    const leave = defineTool({
      description: 'ends the thread',
      quick: true,
      execute: async (state) => {
        await state.terminate();
        return { status: 'success' };
      },
    });
    const model = scriptedModel([callsMany([{ name: 'leave' }, { name: 'note' }])]);
    const runtime = await testRuntime({ model, tools: { leave, note } });
    const thread = await runtime.start('go');
    expect(await runtime.client.getThread(thread)).toMatchObject({ status: 'terminated' });
    const events = await runtime.store.events.read(thread, 0);
    expect(events.filter(({ type }) => type === 'tool.started')).toHaveLength(1);
  });

  it('an effect scheduled by one of them fires', async () => {
    const ring = defineEffect('rings', (state) => state.setValue('rung', true));
    const plan = defineTool({
      description: 'plans',
      quick: true,
      execute: async (state) => {
        await state.scheduleEffect('ring', {}, 50);
        return { status: 'success' };
      },
    });
    const model = scriptedModel([calls('plan'), says('planned')]);
    const runtime = await testRuntime({ model, tools: { plan }, effects: { ring } });
    const thread = await runtime.start('go');
    await ended(runtime, thread, 1);
    expect(await activitiesOf(runtime.client, thread)).not.toContain('runTool');
  });
});
