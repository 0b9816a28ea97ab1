/**
 * What Temporal has of a project whose senders use our client: nothing that a person, a model or a tool has written.
 * Every such text contains the word MARK; the histories and descriptions of all workflows are searched for it.
 */
import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { workflowIdOf } from '../../src/core/thread/start-options.ts';
import { defineTask, defineTool } from '../../src/definitions/index.ts';
import { calls, hangs, says } from '../../src/testing/index.ts';
import { childProject, handsIn, hasResult, lastTold, modelOf } from '../support/child-project.ts';
import { echo } from '../support/prompt-project.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { findMarks, MARK } from '../support/secret-mark.ts';
import { create } from '../support/subagent-project.ts';

const boom = defineTool({
  description: 'fails',
  execute: async () => {
    throw new Error(`${MARK} in an error`);
  },
});

const model = modelOf({
  main: (request) => {
    const told = lastTold(request);
    if (told.includes('hang')) return hangs({ after: `${MARK} thinks` });
    if (hasResult(request)) return says(`${MARK} answers`);
    if (told.includes('child')) return calls('subagent_create', create(`${MARK} child`));
    if (told.includes('fail')) return calls('boom', {});
    return calls('echo', { text: MARK });
  },
  scout_desk: () => handsIn(`${MARK} written`),
});

const registry = {
  ...childProject({
    model,
    entries: [{ name: 'scout', resumable: { receives_messages: 'side_a' } }, 'echo', 'boom'],
    children: { scout: {} },
    tools: { echo, boom },
  }),
  tasks: new Map([
    [
      'draft',
      defineTask({
        observe: () => ({}),
        validate: () => [{ id: 'goal', passed: false }],
        decide: () => ({ kind: 'act', action: { type: 'write' } }),
        act: (_action, { abortSignal }) =>
          new Promise((resolve) => abortSignal.addEventListener('abort', () => resolve('aborted'))),
      }),
    ],
  ]),
};

/** A place in a history, as `event type.field.field`, with the bytes or the text that it has. */
type Found = readonly [place: string, value: Buffer | string];

function* leaves(value: unknown, place: string): Generator<Found> {
  if (value instanceof Uint8Array) yield [place, Buffer.from(value)];
  else if (typeof value === 'string') yield [place, value];
  else if (Array.isArray(value)) for (const each of value) yield* leaves(each, place);
  else if (typeof value === 'object' && value !== null)
    for (const [name, field] of Object.entries(value)) yield* leaves(field, `${place}.${name}`);
}

async function readWorkflow({ client }: TestRuntime, id: string): Promise<Found[]> {
  const { workflow, workflowService, options } = client.temporal;
  const execution = { workflowId: workflowIdOf(id) };
  const described = await workflowService.describeWorkflowExecution({
    namespace: options.namespace,
    execution,
  });
  const { events } = await workflow.getHandle(execution.workflowId).fetchHistory();
  return [...leaves(events, 'event'), ...leaves(described, 'described')];
}

const found: Found[] = [];

async function talk(runtime: TestRuntime): Promise<string> {
  const { client } = runtime;
  const { threadId } = await client.startThread({
    agent: 'helper',
    arguments: { topic: MARK },
    tags: [MARK],
    context: { metadata: { about: MARK } },
    messages: [{ content: `${MARK} echo` }],
  });
  await client.waitForIdle(threadId);
  for (const word of ['child', 'fail']) {
    await client.queueMessage(threadId, { content: `${MARK} ${word}`, metadata: { about: MARK } });
    await client.waitForIdle(threadId);
  }
  await client.sendMessage(threadId, { content: `${MARK} echo` });
  await client.queueTool(threadId, { name: 'echo', arguments: { text: MARK } });
  await client.waitForIdle(threadId);
  return threadId;
}

/** Runs into a model call that does not end, whose heartbeats are read as well. */
async function hang(runtime: TestRuntime, threadId: string, times: number): Promise<void> {
  await runtime.client.queueMessage(threadId, { content: `${MARK} hang` });
  const read = () => runtime.store.events.read(threadId, 0, 100_000);
  await eventually('text streams', async () => countHangs(await read()) >= times);
  found.push(...(await readWorkflow(runtime, threadId)));
}

function countHangs(events: Parameters<typeof eventsOf>[0]): number {
  const text = eventsOf(events, 'model.chunk').map(({ data }) => data.delta);
  return text.join('').split('thinks').length - 1;
}

beforeAll(async () => {
  const runtime = await testRuntime({ registry, fresh: true });
  const { client, store } = runtime;
  const thread = await talk(runtime);
  await hang(runtime, thread, 1);
  await client.stop(thread, `${MARK} stops`);
  await client.waitForIdle(thread);
  expect((await client.getThread(thread)).stopReason).toBe(`${MARK} stops`);
  await hang(runtime, thread, 2);
  await client.cancelExecution(thread, { reason: `${MARK} cancels`, by: MARK });
  await client.waitForIdle(thread);
  const { id: task } = await client.tasks.start({
    task: 'draft',
    intent: `${MARK} intent`,
    inputs: { text: MARK },
  });
  const taskThread = `task/${task}`;
  await eventually('the task acts', async () => (await store.tasks.get(task))?.spec.intent !== undefined);
  await client.tasks.abort(task, `${MARK} aborts`);
  expect(await client.tasks.wait(task)).toMatchObject({
    spec: { intent: `${MARK} intent`, inputs: { text: MARK } },
    verdict: { reason: `${MARK} aborts` },
  });
  await client.terminate(thread, `${MARK} ends`);
  await eventually('the end of the workflow', async () =>
    client.temporal.workflow
      .getHandle(workflowIdOf(thread))
      .result()
      .then(() => true),
  );
  const record = await client.getThread(thread);
  expect(record).toMatchObject({ arguments: { topic: MARK }, tags: [MARK], stopReason: `${MARK} ends` });
  const [child] = await store.children.list(thread);
  for (const id of [thread, taskThread, child?.threadId ?? ''])
    found.push(...(await readWorkflow(runtime, id)));
});

describe('content sent by a client is absent from the Temporal server', () => {
  it.each([
    ['input', 1, /\.input\b/],
    ['signal', 1, /workflowExecutionSignaledEventAttributes|signalExternal/],
    ['result', 1, /\.(result|acceptedRequest|outcome)\b/],
    ['failure', 0, /\.(failure|lastFailure)\b/],
    ['summary', 1, /\.(summary|staticSummary)\b/],
    ['details', 1, /\.(details|staticDetails)\b/],
    ['attributes', 1, /\.(searchAttributes|memo|header)\b/],
    ['heartbeat', 0, /heartbeatDetails/i],
  ] as const)('in the place "%s"', (_name, least, place) => {
    const here = found.filter(([at]) => place.test(at));
    expect(here.length).toBeGreaterThanOrEqual(least);
    expect(here.filter(([, value]) => findMarks(value).length > 0).map(([at, v]) => [at, String(v)])).toEqual(
      [],
    );
  });

  it('in any other place', () => {
    expect(found.length).toBeGreaterThan(500);
    expect(found.filter(([, value]) => findMarks(value).length > 0).map(([at]) => at)).toEqual([]);
  });
});

describe('a worker that refuses content sent through Temporal', () => {
  it('rejects plain signals with a code, and accepts messages of our client', async () => {
    const runtime = await testRuntime({
      registry,
      fresh: true,
      configuration: { signalledContent: 'refuse' },
    });
    const { client, store } = runtime;
    const thread = await runtime.start();
    const handle = client.temporal.workflow.getHandle(workflowIdOf(thread));
    await handle.signal('queueMessage', { id: 'plain', content: 'echo' });
    await handle.signal('queueTool', { id: 'plain-tool', name: 'echo', arguments: { text: 'x' } });
    await runtime.say(thread, 'echo');
    const rejected = await eventually('both refusals', async () => {
      const found = eventsOf(await store.events.read(thread, 0, 100_000), 'item.rejected');
      return found.length >= 2 && found;
    });
    expect(rejected.map(({ data }) => [data.id, data.code])).toEqual([
      ['plain', 'ContentRefused'],
      ['plain-tool', 'ContentRefused'],
    ]);
    expect((await runtime.transcript(thread)).filter((line) => line.startsWith('user'))).toEqual([
      'user: echo',
    ]);
  });
});
