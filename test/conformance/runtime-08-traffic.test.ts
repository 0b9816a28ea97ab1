/** runtime §8: messages and files between parent and child, and what the end of a child reports. */
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import { SUBAGENT_CREATE, SUBAGENT_MESSAGE } from '../../src/core/project/subagent.ts';
import { REPORT_START } from '../../src/core/thread/subagent-report.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { readWholeFile } from '../../src/store/file/file-content.ts';
import { calls, callsMany, fails, type RecordedRequest, says } from '../../src/testing/index.ts';
import { eventually } from '../support/eventually.ts';
import { told } from '../support/prompt-project.ts';
import type { TestRuntime } from '../support/runtime.ts';
import {
  type Cast,
  cast,
  childrenOf,
  create,
  type FamilyOptions,
  familyRuntime,
  heldTool,
  lastResult,
  RESUMABLE,
  reportsIn,
  settled,
} from '../support/subagent-project.ts';

const OK = says('ok');

async function textOf({ store }: TestRuntime, thread: string, path: string): Promise<string | undefined> {
  const content = await readWholeFile(store, thread, path);
  return content ? Buffer.from(content).toString() : undefined;
}

describe('runtime §8.1 Parent to child', () => {
  it('[runtime 8.1] files are passed at creation and with each message, under paths of the child', async () => {
    const actors = cast({
      main: [
        callsMany([
          { name: 'keep', args: { name: 'one.txt', text: 'first' } },
          { name: SUBAGENT_CREATE, args: create('read this', { attachments: ['/attachments/one.txt'] }) },
        ]),
        OK,
        (request) => {
          const referenceId = /Reference: (\S+)/.exec(told(request).join('\n'))?.[1];
          return callsMany([
            { name: 'keep', args: { name: 'two.txt', text: 'second' } },
            {
              name: SUBAGENT_MESSAGE,
              args: { referenceId, message: 'and this', attachments: ['/attachments/two.txt'] },
            },
          ]);
        },
        OK,
      ],
      scout_a: () => calls('finish', { text: 'read' }),
    });
    const runtime = await familyRuntime({ cast: actors, entries: [{ name: 'scout', ...RESUMABLE }] });
    const thread = await runtime.start('go');
    await runtime.say(thread, 'on');
    const [child] = await childrenOf(runtime, thread);
    const childId = child?.threadId as string;
    const words = (await runtime.messages(childId)).filter(({ role }) => role === 'user');
    expect(words.map(({ content, attachments }) => [content, attachments?.map(({ name }) => name)])).toEqual([
      ['read this', ['one.txt']],
      ['and this', ['two.txt']],
    ]);
    const paths = words.flatMap(({ attachments }) => attachments?.map(({ path }) => path) ?? []);
    expect(await Promise.all(paths.map((path) => textOf(runtime, childId, path)))).toEqual([
      'first',
      'second',
    ]);
    const heard = actors.of('scout_a').map((request) => JSON.stringify(request.messages));
    expect(paths.map((path, turn) => heard[turn]?.includes(path))).toEqual([true, true]);
    // The child has its own copies: removing the parent's file does not affect them.
    await runtime.store.files.unlink(thread, '/attachments/one.txt');
    expect(await textOf(runtime, childId, paths[0] as string)).toBe('first');
  });
});

/** Returns the report of a child that does not block. */
async function reportOf(
  actors: Cast,
  options: Omit<FamilyOptions, 'cast'> = {},
): Promise<{ body: string; head: string; runtime: TestRuntime; thread: string }> {
  const runtime = await familyRuntime({
    cast: actors,
    entries: [{ name: 'scout', blocking: false, ...RESUMABLE }],
    ...options,
  });
  const thread = await runtime.start('go');
  const [report] = await settled(runtime, thread);
  const [head = '', ...body] = (report?.content ?? '').split('\n\n');
  return { head, body: body.join('\n\n'), runtime, thread };
}

const send = [calls(SUBAGENT_CREATE, create('x')), says('Sent.'), OK];

describe('runtime §8.2 Child to parent', () => {
  it('[runtime 8.2] a report names the child and its result, and copies its files to the parent', async () => {
    const actors = cast({
      main: send,
      scout_a: [
        calls('keep', { name: 'map.txt', text: 'the map' }),
        calls('finish', { text: 'see the map', files: '/attachments/map.txt' }),
      ],
    });
    const { head, runtime, thread } = await reportOf(actors);
    const [report] = await reportsIn(runtime, thread);
    const [child] = await childrenOf(runtime, thread);
    expect(REPORT_START.exec(head)?.[1]).toBe(child?.threadId);
    const [file] = report?.attachments ?? [];
    expect(report?.content).toBe(`${head}\n\nsee the map\n\nAttachments:\n${file?.path}`);
    expect(await textOf(runtime, thread, file?.path as string)).toBe('the map');
    expect(told(actors.of('main').at(-1) as RecordedRequest).at(-1)).toContain('see the map');
  });

  it('[runtime 8.2] a thread with a report in its queue is not idle, even before its workflow is signalled', async () => {
    const actors = cast({ main: send, scout_a: [calls('finish', { text: 'here' })] });
    // Delays between the transaction that queues the report and the signal that announces it.
    const probe = (point: string) => (point === 'report_delivered' ? delay(400) : undefined);
    const { runtime, thread } = await reportOf(actors, { runtime: { probe } });
    expect(told(actors.of('main').at(-1) as RecordedRequest).at(-1)).toContain('here');
    expect((await runtime.transcript(thread)).at(-1)).toMatch(/^assistant: /);
  });

  it('[runtime 8.2] the result of a waiting call includes the files too', async () => {
    const actors = cast({
      main: [calls('scout'), OK],
      scout_a: [
        calls('keep', { name: 'map.txt', text: 'the map' }),
        calls('finish', { text: 'see the map', files: ['/attachments/map.txt'] }),
      ],
    });
    const runtime = await familyRuntime({ cast: actors, entries: ['scout'] });
    const thread = await runtime.start('go');
    const result = await lastResult(runtime, thread);
    const [file] = result?.attachments ?? [];
    expect(JSON.stringify(actors.of('main')[1]?.messages)).toContain(file?.path);
    expect(await textOf(runtime, thread, file?.path as string)).toBe('the map');
  });

  it('[runtime 8.2] sessionFail is a failure, and an error of the waiting call', async () => {
    const actors = cast({ main: [calls('scout'), OK], scout_a: [calls('give_up', { why: 'too dark' })] });
    const runtime = await familyRuntime({ cast: actors, entries: ['scout'] });
    const thread = await runtime.start('go');
    expect(await lastResult(runtime, thread)).toMatchObject({
      tool_status: 'error',
      content: 'Failed to execute tool: The subagent has failed: too dark',
    });
    expect((await childrenOf(runtime, thread))[0]?.status).toBe('terminated');
  });

  it('[runtime 8.2] a provider failure in the child is a failure, and the child accepts further messages', async () => {
    const actors = cast({
      main: [...send, ...send.slice(1)],
      scout_a: [fails({ status: 400, message: 'no such model' })],
    });
    const { head, body, runtime, thread } = await reportOf(actors);
    expect(head).toMatch(/has failed:$/);
    expect(body).toContain('no such model');
    expect((await childrenOf(runtime, thread))[0]).toMatchObject({ status: 'failed', terminatedAt: null });
  });

  it('[runtime 8.2] maxSessionTurns is a failure that names the limit and the last message', async () => {
    const actors = cast({
      main: send,
      scout_a: [says('one'), says('three')],
      scout_b: [says('two')],
    });
    const { head, body } = await reportOf(actors, { agents: { scout: { maxSessionTurns: 3 } } });
    expect(head).toMatch(/has failed:$/);
    expect(body).toBe(
      'It reached the limit of turns of its session (max_session_turns).\n\nIts last output:\nthree',
    );
  });

  it('[runtime 8.2] maxSteps of a side is a failure too', async () => {
    const actors = cast({
      main: send,
      scout_a: () => calls('keep', { name: 'a.txt' }),
    });
    const { body } = await reportOf(actors, {
      agents: { scout: { sideA: { prompt: 'scout_a', maxSteps: 2 } } },
    });
    expect(body).toBe('It reached the limit of steps of a side (max_side_steps).');
  });

  it('[runtime 8.2] code that ends the session reports the last answer', async () => {
    const enough = defineTool({
      description: 'ends it',
      execute: async (state: ThreadState) => {
        state.execution?.stop();
        return { status: 'success', result: 'enough' };
      },
    });
    const actors = cast({ main: send, scout_a: [says('a thought')], scout_b: [calls('enough')] });
    const { head, body } = await reportOf(actors, {
      tools: { enough },
      prompts: { scout_b: { tools: ['enough'] } },
    });
    expect(head).toMatch(/has finished:$/);
    expect(body).toBe('a thought');
  });

  it('[runtime 8.2] a call waiting for a child reports that someone stopped it', async () => {
    const actors = cast({ main: [calls(SUBAGENT_CREATE, create('x')), OK], scout_a: [calls('wait')] });
    const wait = defineTool({
      description: 'waits for ever',
      execute: () =>
        new Promise((resolve) => void setTimeout(() => resolve({ status: 'success' }), 60_000).unref()),
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ name: 'scout', ...RESUMABLE }],
      tools: { wait },
      prompts: { scout_a: { tools: ['wait'] } },
    });
    const { threadId } = await runtime.client.startThread({ agent: 'helper', messages: [{ content: 'go' }] });
    await eventually('the child works', () => actors.of('scout_a').length === 1);
    const [child] = await childrenOf(runtime, threadId);
    await runtime.client.stop(child?.threadId as string);
    await runtime.client.waitForIdle(threadId);
    expect((await lastResult(runtime, threadId))?.content).toContain(
      'The subagent was stopped before it finished',
    );
    expect((await childrenOf(runtime, threadId))[0]).toMatchObject({ status: 'stopped', terminatedAt: null });
  });

  it('[runtime 8.2] a child reports once for each session', async () => {
    const actors = cast({
      // Chosen by the last message: a report may arrive before or after the step that answers "ok" to the creation.
      main: (request) => {
        const lines = told(request);
        if (lines.at(-1) === 'user: go') return calls(SUBAGENT_CREATE, create('x'));
        if (lines.at(-1) !== 'user: again') return OK;
        const referenceId = /reference: (\S+)\)/.exec(lines.join('\n'))?.[1];
        return calls(SUBAGENT_MESSAGE, { referenceId, message: 'again', attachments: [] });
      },
      scout_a: [calls('finish', { text: 'first' }), calls('finish', { text: 'second' })],
    });
    const { runtime, thread } = await reportOf(actors);
    await runtime.say(thread, 'again');
    const reports = await settled(runtime, thread, 2);
    expect(reports.map(({ content }) => content?.split('\n\n')[1])).toEqual(['first', 'second']);
  });
});

describe('runtime §8.3 Status updates', () => {
  it('[runtime 8.3] sessionStatus appears in the registry of the parent, and ends nothing', async () => {
    const { wait, release } = heldTool();
    const actors = cast({
      main: send,
      scout_a: [calls('progress', { at: 'half way' }), calls('wait'), calls('finish', { text: 'there' })],
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ name: 'scout', blocking: false, ...RESUMABLE }],
      tools: { wait },
      prompts: { scout_a: { includePastTools: true, tools: ['progress', 'wait', 'finish'] } },
    });
    const thread = await runtime.start('go');
    await eventually('the status', async () => (await childrenOf(runtime, thread))[0]?.status === 'half way');
    release();
    await settled(runtime, thread);
    const [child] = await childrenOf(runtime, thread);
    expect(child?.status).toBe('idle');
    const events = await runtime.store.events.read(thread, 0);
    expect(events.filter((event) => event.type === 'subagent.status').map(({ data }) => data)).toEqual([
      { childId: child?.threadId, name: 'about x', status: 'half way' },
    ]);
    const results = (await runtime.messages(child?.threadId as string)).filter(({ role }) => role === 'tool');
    expect(results.map(({ name, content }) => `${name}: ${content}`)).toEqual([
      'progress: told',
      'wait: waited',
      'finish: there',
    ]);
  });
});
