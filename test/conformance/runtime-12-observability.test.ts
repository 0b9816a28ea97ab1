/** runtime §12: durable markers of model calls, tool calls, and how executions ended. */
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, fails, says, scriptedModel } from '../../src/testing/index.ts';
import { askStatus, askWorkflow } from '../support/ask-workflow.ts';
import { holding } from '../support/holding.ts';
import { hookRuntime } from '../support/hook-project.ts';
import { eventually, testRuntime } from '../support/runtime.ts';
import { activitiesOf } from '../support/scheduled.ts';

const look = defineTool({
  description: 'looks',
  quick: true,
  execute: () => ({ status: 'success', result: 'seen' }),
});

describe('runtime §12 Observability', () => {
  it('[runtime 12] model invocations are events, failed ones with their reason', async () => {
    const model = scriptedModel([fails({ status: 500, message: 'overloaded', retryAfter: 0 }), says('fine')]);
    const runtime = await testRuntime({ model });
    const thread = await runtime.start('go');
    const events = (await runtime.store.events.read(thread, 0)).filter(({ type }) =>
      type.startsWith('model.'),
    );
    expect(events.map(({ type }) => type).filter((type) => type !== 'model.chunk')).toEqual([
      'model.called',
      'model.failed',
      'model.called',
      'model.answered',
    ]);
    expect(events.find((event) => event.type === 'model.failed')?.data).toMatchObject({
      code: 'server_error',
      statusCode: 500,
    });
    expect(events.at(-1)?.type === 'model.answered' || events.at(-1)?.type === 'model.chunk').toBe(true);
  });

  it('[runtime 12] tool calls and results are events', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([calls('look', {}), says('ok')]),
      tools: { look },
    });
    const thread = await runtime.start('go');
    const events = (await runtime.store.events.read(thread, 0)).filter(({ type }) =>
      type.startsWith('tool.'),
    );
    expect(events.map(({ type, data }) => [type, 'name' in data && data.name])).toEqual([
      ['tool.called', 'look'],
      ['tool.started', 'look'],
      ['tool.result', 'look'],
    ]);
  });

  it('[runtime 12] log entries have the status_kind that an author gave to the answer or the result', async () => {
    const runtime = await hookRuntime({
      model: scriptedModel([calls('look'), says('seen')]),
      hooks: {
        before_create_message: (_state, { role, tool_calls: asked }) => ({
          metadata: role === 'user' || asked ? {} : { status_kind: `by_${role}` },
        }),
      },
      tools: { look },
    });
    const thread = await runtime.start('go');
    const logs = await runtime.client.getLogs(thread, { order: 'asc' });
    expect(
      logs.filter(({ type }) => type.endsWith('_call')).map(({ type, metadata }) => [type, metadata]),
    ).toEqual([
      ['model_call', undefined],
      ['tool_call', { status_kind: 'by_tool' }],
      ['model_call', { status_kind: 'by_assistant' }],
    ]);
  });

  it('[runtime 12] the end of an execution, a stop and a termination are events with their reason', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('ok')]) });
    const thread = await runtime.start('go');
    await runtime.client.stop(thread, 'lunch');
    await runtime.client.waitForIdle(thread);
    await runtime.client.terminate(thread, 'done');
    await runtime.client.waitForIdle(thread);
    const events = await runtime.store.events.read(thread, 0);
    expect(events.find((event) => event.type === 'execution.ended')?.data).toMatchObject({
      reason: 'stop_on_response',
    });
    const statuses = events
      .filter((event) => event.type === 'thread.status')
      .map(({ data }) => [data.status, data.reason]);
    expect(statuses.slice(1)).toEqual([
      ['idle', 'stop_on_response'],
      ['stopped', 'lunch'],
      ['terminated', 'done'],
    ]);
    expect(events.at(-1)).toMatchObject({ type: 'thread.terminated', data: { reason: 'done' } });
  });

  it('[runtime 12] search attributes have status and agent, and the status query the current activity', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('ok')]) });
    const thread = await runtime.start('go');
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${thread}`);
    const { searchAttributes } = await handle.describe();
    expect(searchAttributes).toMatchObject({
      ThreadStatus: ['idle'],
      AgentId: ['helper'],
      RootThreadId: [thread],
    });
    expect(await askStatus(handle)).toEqual({
      threadId: thread,
      agent: 'helper',
      status: 'idle',
      step: 1,
      stopReason: 'stop_on_response',
      queued: 0,
      atRest: true,
      activity: 'waiting for a message',
      lastError: null,
    });
    const metadata = await askWorkflow<{ currentDetails: string }>(handle, '__temporal_workflow_metadata');
    expect(metadata.currentDetails).toContain('waiting for a message');
  });

  it('[runtime 12] a short turn changes no search attribute', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([calls('look', {}), says('ok')]),
      tools: { look },
    });
    const thread = await runtime.start('go');
    const { events } = await runtime.client.temporal.workflow.getHandle(`thread/${thread}`).fetchHistory();
    const changes = (events ?? []).flatMap(({ upsertWorkflowSearchAttributesEventAttributes: changed }) =>
      changed ? [Object.keys(changed.searchAttributes?.indexedFields ?? {}).sort()] : [],
    );
    expect(changes).toEqual([['AgentId', 'RootThreadId', 'ThreadStatus']]);
  });

  it('[runtime 12] the search attribute shows a turn that lasts, whose activity goes on', async () => {
    const { tool: hold, begun } = holding({ quick: true });
    const model = scriptedModel([calls('hold', {}), calls('hold', {}), says('ok')]);
    const runtime = await testRuntime({ model, tools: { hold } });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${threadId}`);
    const shown = async () => (await handle.describe()).searchAttributes.ThreadStatus?.[0];
    const letGo = await begun(0);
    expect(await askStatus(handle)).toMatchObject({ status: 'running' });
    await eventually('it is shown as running', async () => (await shown()) === 'running');
    letGo();
    (await begun(1))();
    await runtime.client.waitForIdle(threadId);
    await eventually('it is shown as idle', async () => (await shown()) === 'idle');
    expect(await activitiesOf(runtime.client, threadId)).toEqual(['openThread', 'modelStep']);
  });

  it('[runtime 12] the search attribute shows a turn that lasts beyond its run', async () => {
    const { tool: hold, begun } = holding({ quick: true });
    const model = scriptedModel([calls('hold', {}), calls('hold', {}), says('ok')]);
    const configuration = { historySoftLimit: 20, stepsPerActivity: 1 };
    const runtime = await testRuntime({ model, tools: { hold }, configuration });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${threadId}`);
    const shown = async () => (await handle.describe()).searchAttributes.ThreadStatus?.[0];
    const { runId } = await handle.describe();
    (await begun(0))();
    const letGo = await begun(1);
    expect((await handle.describe()).runId).not.toBe(runId);
    await eventually('it is shown as running', async () => (await shown()) === 'running', 10_000);
    letGo();
    await runtime.client.waitForIdle(threadId);
    await eventually('it is shown as idle', async () => (await shown()) === 'idle');
  });

  it('[runtime 12] a failed thread shows its cause: agent in the id, last activity, and code in the details', async () => {
    const runtime = await testRuntime({
      model: scriptedModel([fails({ status: 401, message: 'no such key' })]),
    });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    expect(threadId).toMatch(/^helper-[a-z0-9]{16}$/);
    expect((await runtime.client.waitForIdle(threadId)).status).toBe('failed');
    const handle = runtime.client.temporal.workflow.getHandle(`thread/${threadId}`);
    const { events } = await handle.fetchHistory();
    const summaries = (events ?? []).flatMap(
      ({ activityTaskScheduledEventAttributes: activity, userMetadata }) => {
        const data = userMetadata?.summary?.data;
        return activity && data ? [JSON.parse(Buffer.from(data).toString())] : [];
      },
    );
    expect(summaries.at(-1)).toBe('failed: auth_error');
    const metadata = await askWorkflow<{ currentDetails: string }>(handle, '__temporal_workflow_metadata');
    expect(metadata.currentDetails).toContain('**status:** failed: auth\\_error');
    expect(metadata.currentDetails).toContain('no such key');
  });
});
