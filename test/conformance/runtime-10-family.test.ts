/** runtime §10 and §11 in a family: who is notified of a stop and of an end, and that threads run independently. */
import { describe, expect, it } from '@jest/globals';
import { eventsOf } from '../../src/core/event/thread-event.ts';
import { startOptions } from '../../src/core/thread/start-options.ts';
import type { SubagentInput } from '../../src/definitions/prompt-input.ts';
import { callsMany, hangs, says } from '../../src/testing/index.ts';
import { childProject, handsIn, hasResult, lastTold, modelOf } from '../support/child-project.ts';
import { atRest } from '../support/family-work.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';
import { create, reportsIn, settled } from '../support/subagent-project.ts';

const EXPLICIT = {
  name: 'scout',
  blocking: false,
  resumable: { receives_messages: 'side_a', parentCommunication: 'explicit' },
} as const;
const BLOCKING = { name: 'scout', resumable: { receives_messages: 'side_a' } } as const;

/** On `send one two` the parent makes a scout per word, which is told that word; with `wait…` it never answers. */
async function scouts(entry: SubagentInput = EXPLICIT): Promise<TestRuntime> {
  const model = modelOf({
    main: (request) => {
      const told = lastTold(request);
      if (told === 'wait') return hangs({ after: 'I think' });
      if (hasResult(request) || !told.startsWith('send ')) return says('noted');
      const names = told.slice(5).split(' ');
      return callsMany(names.map((name) => ({ name: 'subagent_create', args: create(name) })));
    },
    scout_desk: (request) =>
      lastTold(request).startsWith('wait') ? hangs({ after: 'I think' }) : handsIn(lastTold(request)),
  });
  const registry = childProject({ model, entries: [entry], children: { scout: {} } });
  return testRuntime({ registry });
}

const ids = async ({ store }: TestRuntime, threadId: string): Promise<string[]> =>
  (await store.children.list(threadId)).map((child) => child.threadId);
const statuses = async ({ store }: TestRuntime, threadId: string): Promise<string[]> =>
  (await store.children.list(threadId)).map(({ status }) => status);
const streaming = (runtime: TestRuntime, threadId: string) =>
  eventually('text streams', async () =>
    (await runtime.store.events.read(threadId, 0, 1000)).some((event) => event.type === 'model.chunk'),
  );

describe('runtime §10 Termination in a family', () => {
  it('[runtime 10a] the end of a child reaches its parent’s registry, whoever ends it, in any state', async () => {
    const runtime = await scouts();
    const { client, store } = runtime;
    const thread = await runtime.start('send sit wait sit2');
    const [idle = '', busy = '', cancelled = ''] = await ids(runtime, thread);
    await streaming(runtime, busy);
    await atRest(runtime, idle);
    await client.terminate(idle);
    await client.terminate(busy, 'enough');
    await client.temporal.workflow.getHandle(`thread/${cancelled}`).cancel();
    await eventually('all to be over', async () =>
      (await statuses(runtime, thread)).every((status) => status === 'terminated'),
    );
    for (const { terminatedAt } of await store.children.list(thread)) expect(terminatedAt).not.toBeNull();
    expect((await client.getThread(thread)).status).toBe('idle');
  });

  it('[runtime 10] a terminated parent terminates its living descendants; all refuse later commands', async () => {
    const runtime = await scouts();
    const { client } = runtime;
    const thread = await runtime.start('send sit wait');
    const children = await ids(runtime, thread);
    await streaming(runtime, children[1] as string);
    await client.terminate(thread, 'over');
    for (const id of [thread, ...children]) {
      await eventually('the end', async () => (await client.getThread(id)).terminatedAt !== null);
      await expect(client.queueMessage(id, { content: 'more' })).rejects.toMatchObject({
        code: 'ThreadTerminated',
      });
      expect(await client.temporal.workflow.getHandle(`thread/${id}`).result()).toEqual({
        outcome: 'terminated',
      });
    }
    expect((await client.getThread(children[0] as string)).stopReason).toBe(
      'a thread above it was terminated',
    );
  });

  it('[runtime 10] a descendant whose workflow was killed is ended in the store', async () => {
    const runtime = await scouts();
    const { client } = runtime;
    const thread = await runtime.start('send sit');
    const [child = ''] = await ids(runtime, thread);
    await atRest(runtime, child);
    await client.temporal.workflow.getHandle(`thread/${child}`).terminate('killed');
    await client.terminate(thread);
    await eventually('the end', async () => (await client.getThread(child)).terminatedAt !== null);
    const { status } = await client.temporal.workflow.getHandle(`thread/${child}`).describe();
    expect(status.name).toBe('TERMINATED');
  });

  it('[runtime 10a] a waiting call reports a child that was ended while it had no workflow', async () => {
    const runtime = await scouts(BLOCKING);
    const { client, store, taskQueue } = runtime;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'send wait' }] });
    const child = await eventually('a child', async () => (await ids(runtime, threadId))[0]);
    await streaming(runtime, child);
    await client.temporal.workflow.getHandle(`thread/${child}`).terminate('killed');
    await store.threads.terminate(child, 'gone');
    const place = { agent: 'scout', threadId: child, parentId: threadId };
    // The parent's workflow starts it like this after some time without a signal from the child.
    await client.temporal.workflow.start('thread', {
      ...startOptions(place),
      taskQueue,
      args: [{ ...place, userId: null, rootId: threadId }],
    });
    await client.waitForIdle(threadId);
    expect((await runtime.transcript(threadId)).slice(-2)).toEqual([
      expect.stringMatching(
        /^tool subagent_create error: .*The subagent was terminated before it finished: gone/,
      ),
      'assistant: noted',
    ]);
  });

  it('[runtime 8.2] a waiting call reports that its child was cancelled, and why', async () => {
    const runtime = await scouts(BLOCKING);
    const { client } = runtime;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'send wait' }] });
    const child = await eventually('a child', async () => (await ids(runtime, threadId))[0]);
    await streaming(runtime, child);
    await client.cancelExecution(child, { reason: 'too dear' });
    await client.waitForIdle(threadId);
    expect((await runtime.transcript(threadId)).slice(-2)).toEqual([
      expect.stringMatching(
        /^tool subagent_create error: .*The subagent was cancelled before it finished: too dear/,
      ),
      'assistant: noted',
    ]);
    expect(await statuses(runtime, threadId)).toEqual(['canceled']);
    const failed = eventsOf(await runtime.store.events.read(threadId, 0, 1000), 'subagent.failed');
    expect(failed.map(({ data }) => data)).toEqual([
      {
        childId: child,
        agent: 'scout',
        name: 'about wait',
        kind: 'canceled',
        by: 'call',
        reason: 'too dear',
      },
    ]);
  });

  it('[runtime 8.2] a parent without a waiting call gets a message that its child was cancelled', async () => {
    const runtime = await scouts({ ...BLOCKING, blocking: false });
    const { client } = runtime;
    const thread = await runtime.start('send wait');
    const [child = ''] = await ids(runtime, thread);
    await streaming(runtime, child);
    await client.cancelExecution(child);
    const [report] = await settled(runtime, thread);
    expect(report?.content).toBe(
      `Subagent (reference: ${child}) scout "about wait" was cancelled before it finished.`,
    );
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: noted');
  });

  it('[runtime 8.2] a cancelled parent is not started by the ends of its children', async () => {
    const runtime = await scouts({ ...BLOCKING, blocking: false });
    const { client } = runtime;
    const thread = await runtime.start('send wait wait2');
    const children = await ids(runtime, thread);
    for (const child of children) await streaming(runtime, child);
    await client.queueMessage(thread, { content: 'wait' });
    await eventually('the parent streams', async () => (await client.getThread(thread)).status === 'running');
    await client.cancelExecution(thread);
    await eventually('all to rest', async () =>
      (await client.getFamily(thread)).every(({ thread: { status } }) => status === 'stopped'),
    );
    for (const child of children) await client.waitForIdle(child);
    expect(await reportsIn(runtime, thread)).toEqual([]);
  });

  it('[AX-123] a stopped parent stops working children and leaves idle ones', async () => {
    const runtime = await scouts();
    const { client } = runtime;
    const thread = await runtime.start('send sit wait');
    const [idle = '', busy = ''] = await ids(runtime, thread);
    await streaming(runtime, busy);
    await atRest(runtime, idle);
    await client.stop(thread, 'enough');
    await eventually('the child to stop', async () => (await client.getThread(busy)).status === 'stopped');
    expect((await client.getThread(idle)).status).toBe('idle');
    expect(await statuses(runtime, thread)).toEqual(['idle', 'stopped']);
    await client.waitForIdle(busy);
    // A child that has been resumed since then is left alone when the parent commits its rest again.
    await runtime.client.queueMessage(busy, { content: 'wait again' });
    await eventually('the child goes on', async () => (await client.getThread(busy)).status === 'running');
    await client.temporal.workflow.getHandle(`thread/${thread}`).signal('queueTool', null);
    await eventually('a refusal', async () =>
      (await runtime.store.events.read(thread, 0, 1000)).some((event) => event.type === 'item.rejected'),
    );
    expect((await client.getThread(busy)).status).toBe('running');
    await client.stop(busy);
    await eventually('the child to stop', async () => (await client.getThread(busy)).status === 'stopped');
    const lines = await runtime.transcript(busy);
    expect(lines.join()).toContain('I think');
    // The child's stop queues nothing to the parent, which was stopped too.
    expect(
      (await runtime.messages(thread)).filter(({ metadata }) => metadata.subagent_id && metadata.queued),
    ).toEqual([]);
  });

  it('[AX-123] a call waiting for a child ends with its parent’s stop, and the next message continues the parent', async () => {
    const runtime = await scouts(BLOCKING);
    const { client } = runtime;
    const { threadId } = await client.startThread({ agent: 'helper', messages: [{ content: 'send wait' }] });
    const child = await eventually('a child', async () => (await ids(runtime, threadId))[0]);
    await streaming(runtime, child);
    await client.stop(threadId);
    await eventually('both to stop', async () => {
      const family = await client.getFamily(threadId);
      return family.every(({ thread }) => thread.status === 'stopped');
    });
    await runtime.say(threadId, 'hello');
    expect((await runtime.transcript(threadId)).slice(-3)).toEqual([
      expect.stringMatching(/^tool subagent_create error: .*stopped/),
      'user: hello',
      'assistant: noted',
    ]);
    expect((await client.getThread(child)).status).toBe('stopped');
  });
});

describe('runtime §7.1 The relationship in Temporal', () => {
  it('[runtime 7.1] a child’s workflow has its parent’s as parent and root, and search attributes that name both', async () => {
    const runtime = await scouts();
    const { client } = runtime;
    const thread = await runtime.start('send sit');
    const [child = ''] = await ids(runtime, thread);
    await atRest(runtime, child);
    const described = await client.temporal.workflow.getHandle(`thread/${child}`).describe();
    expect(described.parentExecution?.workflowId).toBe(`thread/${thread}`);
    expect(described.rootExecution?.workflowId).toBe(`thread/${thread}`);
    expect(described.searchAttributes).toMatchObject({
      ParentThreadId: [thread],
      RootThreadId: [thread],
      AgentId: ['scout'],
    });
    const own = await client.temporal.workflow.getHandle(`thread/${thread}`).describe();
    expect(own.searchAttributes.RootThreadId).toEqual([thread]);
    expect(own.searchAttributes.ParentThreadId).toBeUndefined();
    // A name is content.
    expect(await described.staticSummary()).toBe(`scout · ${child}`);
  });
});

describe('runtime §11 Concurrency in a family', () => {
  it('[runtime 11] children stream concurrently with their parent; each has one flow', async () => {
    const runtime = await scouts();
    const { client, store } = runtime;
    const thread = await runtime.start('send wait wait2');
    const children = await ids(runtime, thread);
    for (const child of children) await streaming(runtime, child);
    await runtime.say(thread, 'and you?');
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: noted');
    const running = await Promise.all(children.map((child) => client.getThread(child)));
    expect(running.map(({ status }) => status)).toEqual(['running', 'running']);
    for (const child of children) {
      await client.queueMessage(child, { content: 'go on' });
      const begun = (await store.events.read(child, 0, 1000)).filter(
        (event) => event.type === 'step.started',
      );
      expect(begun.length).toBeLessThan(2);
    }
    await client.terminate(thread);
  });
});
