/** definitions §13: the options of a `dual_ai` entry: whether its call blocks, and whether the child is resumable. */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { SUBAGENT_CREATE, SUBAGENT_MESSAGE } from '../../src/core/project/subagent.ts';
import { calls, callsMany, type RecordedRequest, says } from '../../src/testing/index.ts';
import { told } from '../support/prompt-project.ts';
import type { TestRuntime } from '../support/runtime.ts';
import {
  cast,
  childrenOf,
  create,
  ended,
  familyRuntime,
  lastResult,
  RESUMABLE,
  settled,
} from '../support/subagent-project.ts';

const FINISH = calls('finish', { text: 'It is blue.' });
const OK = says('Thanks.');

const referenceIn = (text: string | null | undefined) => /Reference: (\S+)$/.exec(text ?? '')?.[1];

async function onlyChild(runtime: TestRuntime, thread: string) {
  const [child, ...others] = await childrenOf(runtime, thread);
  expect(others).toEqual([]);
  if (!child) throw new Error('no child');
  return child;
}

describe('definitions §13.2 The matrix', () => {
  it('[definitions 13.2] blocking, not resumable: the result is the child’s report, and the child ends', async () => {
    const actors = cast({ main: [calls('scout'), OK], scout_a: [FINISH] });
    const runtime = await familyRuntime({ cast: actors, entries: ['scout'] });
    const thread = await runtime.start('what colour?');
    expect(await runtime.transcript(thread)).toEqual([
      'user: what colour?',
      'assistant:  -> scout',
      'tool scout success: It is blue.',
      'assistant: Thanks.',
    ]);
    const child = await onlyChild(runtime, thread);
    expect(child).toMatchObject({ agent: 'scout', resumable: false, blocking: true });
    await ended(runtime, child.threadId);
    expect(await lastResult(runtime, thread)).toMatchObject({ metadata: { subagent_id: child.threadId } });
  });

  it('[definitions 13.2] blocking, resumable: the result names the child, which stays and accepts messages', async () => {
    const actors = cast({
      main: [
        calls(SUBAGENT_CREATE, create('the sky')),
        OK,
        (request) => {
          const referenceId = referenceIn(told(request).find((line) => line.startsWith('tool:')));
          return calls(SUBAGENT_MESSAGE, { referenceId, message: 'and at night?', attachments: [] });
        },
        OK,
      ],
      scout_a: [FINISH, calls('finish', { text: 'It is black.' })],
    });
    const runtime = await familyRuntime({ cast: actors, entries: [{ name: 'scout', ...RESUMABLE }] });
    const thread = await runtime.start('what colour?');
    const child = await onlyChild(runtime, thread);
    expect((await lastResult(runtime, thread))?.content).toBe(`It is blue.\n\nReference: ${child.threadId}`);
    await runtime.say(thread, 'ask on');
    expect((await lastResult(runtime, thread))?.content).toBe(`It is black.\n\nReference: ${child.threadId}`);
    expect(told(actors.of('scout_a')[1] as RecordedRequest)).toContain('user: and at night?');
    expect(await onlyChild(runtime, thread)).toMatchObject({ status: 'idle', terminatedAt: null });
  });

  it('[AX-120] not blocking, not resumable: a reference at once, the report later, then the child ends', async () => {
    const actors = cast({ main: [calls('scout'), says('Sent.'), OK], scout_a: [FINISH] });
    const runtime = await familyRuntime({ cast: actors, entries: [{ name: 'scout', blocking: false }] });
    const thread = await runtime.start('what colour?');
    const [report] = await settled(runtime, thread);
    const child = await onlyChild(runtime, thread);
    const result = await lastResult(runtime, thread);
    expect(result).toMatchObject({ tool_status: 'success', metadata: { subagent_id: child.threadId } });
    expect(referenceIn(result?.content)).toBe(child.threadId);
    expect(report).toMatchObject({
      role: 'user',
      silent: true,
      content: `Subagent (reference: ${child.threadId}) scout has finished:\n\nIt is blue.`,
      metadata: { subagent_id: child.threadId },
    });
    await ended(runtime, child.threadId);
  });

  it('[definitions 15.1] a message about a subagent has its current registry entry', async () => {
    const actors = cast({ main: [calls(SUBAGENT_CREATE, create('the sky')), OK], scout_a: [FINISH] });
    const runtime = await familyRuntime({ cast: actors, entries: [{ name: 'scout', ...RESUMABLE }] });
    const thread = await runtime.start('what colour?');
    const { threadId, description } = await onlyChild(runtime, thread);
    const fields = {
      subagent_id: threadId,
      subagent_name: 'scout',
      subagent_title: null,
      subagent_description: description,
      subagent_status: 'idle',
      subagent_resumable: true,
      subagent_blocking: true,
      subagent_thread_name: 'about the sky',
      subagent_spawn_group_id: `${thread}:1`,
    };
    const result = await lastResult(runtime, thread);
    expect(result).toMatchObject(fields);
    expect(await runtime.client.getMessage(thread, result?.id ?? '')).toEqual(result);
    const [asked] = await runtime.messages(thread);
    expect(Object.keys(asked ?? {}).filter((name) => name.startsWith('subagent_'))).toEqual([]);
  });

  it('[definitions 13.2] not blocking, resumable: a long-lived child that reports each time', async () => {
    const actors = cast({
      // Chosen by the last message: a report may arrive before the model has answered the creation of the child.
      main: (request) => {
        const last = told(request).at(-1) ?? '';
        if (last === 'user: what colour?') return calls(SUBAGENT_CREATE, create('the sky'));
        if (last !== 'user: ask on') return OK;
        const referenceId = /reference: (\S+)\)/.exec(told(request).join('\n'))?.[1];
        return calls(SUBAGENT_MESSAGE, { referenceId, message: 'and at night?', attachments: [] });
      },
      scout_a: [FINISH, calls('finish', { text: 'It is black.' })],
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ name: 'scout', blocking: false, ...RESUMABLE }],
    });
    const thread = await runtime.start('what colour?');
    await settled(runtime, thread);
    await runtime.say(thread, 'ask on');
    const reports = await settled(runtime, thread, 2);
    const child = await onlyChild(runtime, thread);
    const head = `Subagent (reference: ${child.threadId}) scout "about the sky" has finished:`;
    expect(reports.map(({ content }) => content)).toEqual([
      `${head}\n\nIt is blue.`,
      `${head}\n\nIt is black.`,
    ]);
    expect(child).toMatchObject({ status: 'idle', terminatedAt: null, name: 'about the sky' });
  });
});

const TOPIC = z.object({ topic: z.string(), depth: z.number().default(3) });

describe('definitions §13.4 Creation', () => {
  it('[definitions 13.4] arguments are in the state of both sides, and in a silent message of the child', async () => {
    const actors = cast({
      main: [calls(SUBAGENT_CREATE, create('Go!', { arguments: { topic: 'bees' } })), OK],
      scout_a: [says('What do you think?')],
      scout_b: [FINISH],
    });
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ name: 'scout', ...RESUMABLE }],
      prompts: {
        scout_a: { requiredSchema: TOPIC, prompt: 'You are scout_a. On {{topic}}, {{depth}} deep.' },
        scout_b: { prompt: 'You are scout_b. Judge {{topic}}.', tools: ['finish'] },
      },
    });
    const thread = await runtime.start('go');
    const { threadId } = await onlyChild(runtime, thread);
    expect((await runtime.store.threads.get(threadId))?.arguments).toEqual({ topic: 'bees', depth: 3 });
    expect(told(actors.of('scout_a')[0] as RecordedRequest)[0]).toBe(
      'system: You are scout_a. On bees, 3 deep.',
    );
    expect(told(actors.of('scout_b')[0] as RecordedRequest)[0]).toBe('system: You are scout_b. Judge bees.');
    const [silent, first] = await runtime.messages(threadId);
    expect(silent).toMatchObject({
      role: 'system',
      silent: true,
      content: '{"topic":"bees","depth":3}',
      metadata: { subagentInitialArguments: true },
    });
    expect(first).toMatchObject({ role: 'user', content: 'Go!', silent: false });
  });

  it('[definitions 13.1] init fields give the child its name, first message and files', async () => {
    const actors = cast({
      main: [
        callsMany([
          { name: 'keep', args: { name: 'map.txt', text: 'a map' } },
          {
            name: 'scout',
            args: { topic: { of: 'bees' }, called: '  the \n bee  one ', map: '/attachments/map.txt' },
          },
        ]),
        OK,
      ],
      scout_a: [FINISH],
    });
    const requiredSchema = z.object({
      topic: z.object({ of: z.string() }),
      called: z.string(),
      map: z.string(),
    });
    const init = {
      initUserMessageProperty: 'topic',
      initAttachmentsProperty: 'map',
      initAgentNameProperty: 'called',
    };
    const runtime = await familyRuntime({
      cast: actors,
      entries: [{ name: 'scout', ...init }],
      prompts: { scout_a: { requiredSchema, tools: ['finish'], includeChat: true } },
    });
    const thread = await runtime.start('go');
    const child = await onlyChild(runtime, thread);
    expect(child.name).toBe('the bee one');
    expect((await runtime.store.threads.get(child.threadId))?.name).toBe('the bee one');
    const first = (await runtime.messages(child.threadId)).find(({ role }) => role === 'user');
    expect(first).toMatchObject({ content: '{"of":"bees"}', attachments: [{ name: 'map.txt' }] });
  });
});
