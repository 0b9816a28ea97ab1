/** runtime §7: children are separate threads with a parent; what a parent may do with them. */
import { describe, expect, it } from '@jest/globals';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { SUBAGENT_CREATE, SUBAGENT_MESSAGE } from '../../src/core/project/subagent.ts';
import { defineHook, defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, type RecordedRequest, says } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { workflowOf } from '../support/operator.ts';
import { told } from '../support/prompt-project.ts';
import {
  cast,
  childrenOf,
  create,
  ended,
  familyRuntime,
  heldTool,
  lastResult,
  RESUMABLE,
  reportsIn,
  settled,
} from '../support/subagent-project.ts';

const FINISH = calls('finish', { text: 'done' });
const OK = says('ok');

describe('runtime §7.1 Parents and children', () => {
  it('[runtime 7.1] a child is a thread with a parent, root, user, registry entry, and a workflow of its own', async () => {
    const actors = cast({
      main: [calls(SUBAGENT_CREATE, create('x')), OK],
      scout_a: [FINISH],
    });
    const runtime = await familyRuntime({ cast: actors, entries: [{ name: 'scout', ...RESUMABLE }] });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      userId: 'ada',
      messages: [{ content: 'go' }],
    });
    await runtime.client.waitForIdle(threadId);
    const [child] = await childrenOf(runtime, threadId);
    const record = await runtime.store.threads.get(child?.threadId as string);
    expect(record).toMatchObject({ agent: 'scout', userId: 'ada', parentId: threadId, rootId: threadId });
    expect(child).toMatchObject({
      parentId: threadId,
      name: 'about x',
      description: 'does what a scout does',
      resumable: true,
      status: 'idle',
      madeStep: 1,
    });
    const { raw } = await workflowOf(runtime, child?.threadId as string).describe();
    expect(raw.workflowExecutionInfo?.parentExecution?.workflowId).toBe(`thread/${threadId}`);
    const events = (await runtime.store.events.read(threadId, 0)).filter(({ type }) =>
      type.startsWith('subagent'),
    );
    expect(events.map(({ type }) => type)).toEqual(['subagent.created', 'subagent.returned']);
  });

  it('[runtime 7.1] hooks of the parent see the child before it runs', async () => {
    const seen = defineHook({
      id: 'seen',
      hook: 'after_subagent_created',
      execute: async (state: ThreadState, child: ThreadState) => {
        await child.injectMessage({
          role: 'system',
          content: `made by ${state.agentId} for ${(await state.getChildThread(child.threadId))?.agentId} of ${(await child.getParentThread())?.agentId}`,
        });
      },
    });
    const actors = cast({ main: [calls('scout'), OK], scout_a: [FINISH] });
    const runtime = await familyRuntime({
      cast: actors,
      entries: ['scout'],
      hooks: [seen],
      main: { tools: ['scout'], hooks: ['seen'] },
    });
    await runtime.start('go');
    expect(told(actors.of('scout_a')[0] as RecordedRequest)).toContain(
      'system: made by helper for scout of helper',
    );
  });

  it('[runtime 7.1] a child may have children', async () => {
    const actors = cast({
      main: [calls('scout'), OK],
      scout_a: [calls('clerk'), calls('finish', { text: 'all done' })],
      clerk_a: [calls('finish', { text: 'filed' })],
    });
    const runtime = await familyRuntime({
      cast: actors,
      agents: { scout: {}, clerk: {} },
      entries: ['scout'],
      prompts: { scout_a: { includeChat: true, includePastTools: true, tools: ['clerk', 'finish'] } },
    });
    const thread = await runtime.start('go');
    expect((await lastResult(runtime, thread))?.content).toBe('all done');
    const family = await runtime.store.family.read(thread);
    expect(family.map(({ thread: { agent, rootId }, depth }) => [agent, depth, rootId])).toEqual([
      ['helper', 0, thread],
      ['scout', 1, thread],
      ['clerk', 2, thread],
    ]);
  });
});

describe('runtime §7.2 Resumable children', () => {
  it('[runtime 7.2] side B gets its parent’s messages if the entry says so', async () => {
    const actors = cast({ main: [calls(SUBAGENT_CREATE, create('judge this')), OK], scout_b: [FINISH] });
    const resumable = { receives_messages: 'side_b' };
    const runtime = await familyRuntime({ cast: actors, entries: [{ name: 'scout', resumable }] });
    const thread = await runtime.start('go');
    expect(actors.of('scout_a')).toEqual([]);
    expect(told(actors.of('scout_b')[0] as RecordedRequest)).toContain('user: judge this');
    const [child] = await childrenOf(runtime, thread);
    const [first] = await runtime.messages(child?.threadId as string);
    expect(first).toMatchObject({ role: 'assistant', content: 'judge this' });
  });

  it('[runtime 7.2] non-blocking children work concurrently with one another and their parent', async () => {
    const names = ['one', 'two', 'three'];
    const actors = cast({
      main: (request) =>
        told(request).some((line) => line.startsWith('tool:'))
          ? says('heard')
          : callsMany(names.map((name) => ({ name: SUBAGENT_CREATE, args: create(name) }))),
      scout_a: (request) => calls('finish', { text: `${told(request).at(-1)?.slice(6)} done` }),
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ name: 'scout', blocking: false, ...RESUMABLE }],
    });
    const thread = await runtime.start('go');
    const reports = await settled(runtime, thread, 3);
    const bodies = reports.map(({ content }) => content?.split('\n\n')[1]);
    expect(bodies.sort()).toEqual(['one done', 'three done', 'two done']);
  });

  it('[runtime 7.2] explicit communication: no report is queued, the status is still updated', async () => {
    const actors = cast({
      main: [calls(SUBAGENT_CREATE, create('x')), says('Sent.')],
      scout_a: [FINISH],
    });
    const resumable = { receives_messages: 'side_a', parentCommunication: 'explicit' };
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ name: 'scout', blocking: false, resumable }],
    });
    const thread = await runtime.start('go');
    await eventually(
      'the child is idle',
      async () => (await childrenOf(runtime, thread))[0]?.status === 'idle',
    );
    const [child] = await childrenOf(runtime, thread);
    await eventually(
      'its report is dealt with',
      async () => (await runtime.store.reports.listDue(child?.threadId as string)).length === 0,
    );
    expect(await reportsIn(runtime, thread)).toEqual([]);
    expect(actors.of('main')).toHaveLength(2);
  });

  it('[runtime 7.2] explicit communication: a waiting call still gets its result', async () => {
    const actors = cast({ main: [calls(SUBAGENT_CREATE, create('x')), OK], scout_a: [FINISH] });
    const resumable = { receives_messages: 'side_a', parentCommunication: 'explicit' };
    const runtime = await familyRuntime({ cast: actors, entries: [{ name: 'scout', resumable }] });
    const thread = await runtime.start('go');
    expect((await lastResult(runtime, thread))?.content).toContain('done\n\nReference: ');
  });

  it('[runtime 7.2] a waiting call reports a child terminated by someone else', async () => {
    const actors = cast({
      main: [calls(SUBAGENT_CREATE, create('x')), OK],
      scout_a: [calls('wait')],
    });
    const wait = defineTool({
      description: 'waits for ever',
      execute: (state: ThreadState) =>
        new Promise((resolve) => {
          void state;
          setTimeout(() => resolve({ status: 'success' }), 60_000).unref();
        }),
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ name: 'scout', ...RESUMABLE }],
      tools: { wait },
      prompts: { scout_a: { tools: ['wait', 'finish'] } },
    });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await eventually('the child works', () => actors.of('scout_a').length === 1);
    const [child] = await childrenOf(runtime, threadId);
    await runtime.client.terminate(child?.threadId as string, 'enough');
    await runtime.client.waitForIdle(threadId);
    await ended(runtime, child?.threadId as string);
    const { content, tool_status: status } = (await lastResult(runtime, threadId)) ?? {};
    expect(status).toBe('error');
    expect(content).toContain('The subagent was terminated before it finished');
    expect((await childrenOf(runtime, threadId))[0]?.status).toBe('terminated');
  });

  it('[runtime 7.2] subagent_message to a working child is in its next model request', async () => {
    const { wait, release } = heldTool();
    const actors = cast({
      main: (request) => {
        const lines = told(request);
        if (lines.at(-1) === 'user: more') {
          const referenceId = /Reference: (\S+)/.exec(lines.join('\n'))?.[1];
          return calls(SUBAGENT_MESSAGE, { referenceId, message: 'hurry', attachments: [] });
        }
        return lines.at(-1) === 'user: go' ? calls(SUBAGENT_CREATE, create('x')) : OK;
      },
      scout_a: [calls('wait'), FINISH],
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ name: 'scout', blocking: false, ...RESUMABLE }],
      tools: { wait },
      prompts: { scout_a: { includeChat: true, tools: ['wait', 'finish'] } },
    });
    const thread = await runtime.start('go');
    await runtime.say(thread, 'more');
    expect((await lastResult(runtime, thread))?.content).toContain('has been sent the message');
    release();
    await settled(runtime, thread);
    expect(told(actors.of('scout_a')[1] as RecordedRequest)).toContain('user: hurry');
  });
});
