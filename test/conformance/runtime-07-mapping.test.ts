/** How a subagent gets its name, its first message and its files (runtime §7.4). */
import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, fails, type RecordedRequest, type ScriptStep, says } from '../../src/testing/index.ts';
import {
  type Answer,
  childProject,
  handsIn,
  hasResult,
  lastTold,
  modelOf,
} from '../support/child-project.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';

const BRIEF = z.object({
  topic: z.string(),
  title: z.string().optional(),
  files: z.array(z.string()).default([]),
  tone: z.string().default('dry'),
});
const MAPPED = {
  initUserMessageProperty: 'topic',
  initAgentNameProperty: 'title',
  initAttachmentsProperty: 'files',
};

const keep = defineTool({
  description: 'keeps a file',
  execute: async (state) => {
    await state.writeFile('/attachments/plan.txt', 'the plan', 'text/plain');
    return { status: 'success', result: 'kept' };
  },
});
const open = defineTool({
  description: 'opens its files, and tells its arguments',
  execute: async (state) => {
    const { messages } = await state.getMessages({ includeSilent: true });
    const paths = messages.flatMap(({ attachments }) => attachments?.map(({ path }) => path) ?? []);
    const texts = await Promise.all(
      paths.map(async (path) => Buffer.from((await state.readFile(path)) ?? new ArrayBuffer(0)).toString()),
    );
    return { status: 'success', result: JSON.stringify({ texts, given: state.arguments }) };
  },
});

async function onlyChild({ store }: TestRuntime, thread: string) {
  const children = await store.children.list(thread);
  expect(children).toHaveLength(1);
  const [child] = children;
  if (!child) throw new Error('There is no child.');
  return child;
}

describe('a call of a subagent by its own name', () => {
  it('[runtime 7.4] maps arguments to the first message, the files and the name', async () => {
    const model = modelOf({
      main: (request) => {
        if (!hasResult(request)) return calls('keep');
        const called = request.messages.some(({ role, content }) => role === 'tool' && content !== 'kept');
        const args = {
          topic: 'Write of cats.',
          title: ' The \n Cat  Writer ',
          files: ['/attachments/plan.txt'],
        };
        return called ? says('done') : calls('scribe', args);
      },
      scribe_desk: (request) => (hasResult(request) ? handsIn('written') : calls('open')),
    });
    const runtime = await testRuntime({
      registry: childProject({
        model,
        entries: ['keep', { name: 'scribe', ...MAPPED }],
        children: { scribe: { desk: { requiredSchema: BRIEF, tools: ['open'] } } },
        tools: { keep, open },
      }),
    });
    const thread = await runtime.start('go');
    const child = await onlyChild(runtime, thread);
    expect(child.name).toBe('The Cat Writer');
    expect((await runtime.client.getThread(child.threadId)).name).toBe('The Cat Writer');
    const messages = await runtime.messages(child.threadId);
    const first = messages.find(({ role }) => role === 'user');
    expect(first).toMatchObject({ content: 'Write of cats.', silent: false });
    const opened = messages.find(({ role, name }) => role === 'tool' && name === 'open')?.content ?? '';
    // The child reads its own copy of the parent's file, and the defaults of its arguments are applied.
    expect(JSON.parse(opened)).toMatchObject({
      texts: expect.arrayContaining(['the plan']),
      given: { topic: 'Write of cats.', tone: 'dry' },
    });
    const paths = messages.flatMap(({ attachments }) => attachments?.map(({ path }) => path) ?? []);
    expect(await runtime.store.files.stat(thread, '/attachments/plan.txt')).not.toBeNull();
    for (const path of paths) {
      expect(path).toMatch(/^\/attachments\//);
      expect(await runtime.store.files.stat(child.threadId, path)).not.toBeNull();
    }
  });
});

describe('subagent_create', () => {
  const project = (main: Answer) => ({
    model: modelOf({ main, scribe_desk: () => handsIn('written') }),
    entries: [{ name: 'scribe', resumable: { receives_messages: 'side_a' as const } }],
    children: { scribe: {} },
  });
  const create = (name: unknown) =>
    calls('subagent_create', { agent: 'scribe', message: 'Write.', attachments: [], name });

  it('[runtime 7.4] stores the name for display', async () => {
    const runtime = await testRuntime({
      registry: childProject(
        project((request) => (hasResult(request) ? says('done') : create('  Ada \n Writer '))),
      ),
    });
    const child = await onlyChild(runtime, await runtime.start('go'));
    expect(child.name).toBe('Ada Writer');
    expect((await runtime.client.getThread(child.threadId)).name).toBe('Ada Writer');
  });

  it.each([
    ['blank', ' \n '],
    ['missing', undefined],
    ['no text', 7],
  ])('[runtime 7.4] refuses a name that is %s, and creates nothing', async (_what, name) => {
    const runtime = await testRuntime({
      registry: childProject(project((request) => (hasResult(request) ? says('done') : create(name)))),
    });
    const thread = await runtime.start('go');
    expect(await runtime.store.children.list(thread)).toEqual([]);
    const results = (await runtime.transcript(thread)).filter((line) => line.startsWith('tool'));
    expect(results).toEqual([expect.stringMatching(/^tool subagent_create error: .*"name"/)]);
  });
});

describe('an immediate subagent with hints', () => {
  const HINTS = { nameEnv: 'WHO', descriptionEnv: 'TASK', scopedEnv: ['PASSPORT'] };
  const ENV = {
    WHO: { value: 'Ada of Paris', type: 'text' as const },
    TASK: { value: 'tell of the harbour', type: 'text' as const },
    PASSPORT: 'grenelle-4711',
    OTHER: { value: 'montmartre-4712', type: 'text' as const },
  };

  /** `bootstrap` answers the requests that are not made by a prompt of the project. */
  async function started(bootstrap: Answer, entry: object, env: object = ENV) {
    const model = modelOf(
      { main: () => says('done'), scribe_desk: (request) => handsIn(`I ${lastTold(request)}`) },
      bootstrap,
    );
    const runtime = await testRuntime({
      registry: childProject({
        model,
        entries: [{ name: 'scribe', immediate: HINTS, ...entry }],
        main: { prompt: 'You are main. {{topic}}' },
        children: {
          scribe: {
            agent: { variables: [{ name: 'PASSPORT', required: true, scoped: true }] },
            ...('initUserMessageProperty' in entry ? { desk: { requiredSchema: BRIEF } } : {}),
          },
        },
      }),
    });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'a message of a person' }],
      arguments: { topic: 'an argument of the thread' },
      env: env as never,
    });
    await runtime.client.waitForIdle(threadId);
    const asked = model.requests.filter(
      ({ tools }) => tools?.[0]?.function.name === 'bootstrap_immediate_subagent',
    );
    return { runtime, thread: threadId, asked, child: await onlyChild(runtime, threadId) };
  }
  const usage = { promptTokens: 30, completionTokens: 9, totalTokens: 39, cost: 0.25 };
  const answers = (args: Readonly<Record<string, unknown>>) => (): ScriptStep =>
    calls('bootstrap_immediate_subagent', args, { usage });

  it('[runtime 7.4] has a request whose secrets are sent to the model, and not kept', async () => {
    const env = { ...ENV, WHO: 'vaugirard-4713' };
    const told = answers({ title: 'Ada', topic: 'Tell of the harbour of Paris.' });
    const { runtime, thread, asked } = await started(told, MAPPED, env);
    expect(JSON.stringify(asked)).toContain(env.WHO);
    const [call] = await runtime.client.listModelCalls(thread);
    expect(call).toMatchObject({ kind: 'bootstrap', prompt: 'main', request: 'kept' });
    const kept = await runtime.client.getRequest(thread, call?.id ?? '');
    expect(kept.request).toMatchObject({ messages: [asked[0]?.messages[0], { role: 'user' }] });
    expect(JSON.stringify(kept)).toContain(ENV.TASK.value);
    expect(JSON.stringify(kept)).not.toContain(env.WHO);
  });

  it('[runtime 7.4] gets a bootstrap model’s version of the two values, which are all that model sees', async () => {
    const told = answers({ title: 'Ada', topic: 'Tell of the harbour of Paris.' });
    const { runtime, thread, asked, child } = await started(told, MAPPED);
    expect(asked).toHaveLength(1);
    const { messages, tools, toolChoice } = asked[0] as RecordedRequest;
    expect(messages.map(({ role, content }) => [role, content])).toEqual([
      ['system', expect.stringContaining('bootstrap_immediate_subagent')],
      ['user', 'Name: Ada of Paris\nDescription: tell of the harbour'],
    ]);
    expect(Object.keys(tools?.[0]?.function.parameters.properties ?? {})).toEqual(['title', 'topic']);
    expect(tools).toHaveLength(1);
    expect(toolChoice).toEqual({ name: 'bootstrap_immediate_subagent' });
    for (const hidden of [
      ENV.PASSPORT,
      ENV.OTHER.value,
      'a message of a person',
      'an argument of the thread',
    ]) {
      expect(JSON.stringify(asked)).not.toContain(hidden);
    }
    expect(child.name).toBe('Ada');
    expect((await runtime.client.getThread(child.threadId)).arguments).toMatchObject({
      title: 'Ada',
      topic: 'Tell of the harbour of Paris.',
    });
    expect((await runtime.transcript(thread)).filter((line) => line.startsWith('tool'))).toEqual([
      'tool scribe success: I Tell of the harbour of Paris.',
    ]);
  });

  it('[runtime 7.4] has a bootstrap request that is a model call of the step, with usage and cost', async () => {
    const { runtime, thread } = await started(answers({ title: 'Ada', topic: 'Tell.' }), MAPPED);
    const logs = await runtime.client.getLogs(thread, { order: 'asc' });
    const [first] = logs.filter(({ type }) => type === 'model_call');
    expect(first?.data).toMatchObject({ model: 'scripted', state: 'ok', usage, cost: 0.25 });
  });

  const FALLBACKS: [string, Answer][] = [
    ['fails', () => fails({ status: 400, message: 'no' })],
    ['answers with words', () => says('Ada shall tell')],
    ['leaves both out', answers({ title: ' ', topic: 7 })],
  ];

  it.each(FALLBACKS)('[runtime 7.4] gets the values themselves if the model %s', async (_what, bootstrap) => {
    const { child, runtime, thread } = await started(bootstrap, MAPPED);
    expect(child.name).toBe('Ada of Paris');
    expect((await runtime.transcript(thread)).filter((line) => line.startsWith('tool'))).toEqual([
      'tool scribe success: I tell of the harbour',
    ]);
  });

  it('[runtime 7.4] stores no secret repeated in an error of the bootstrap model', async () => {
    const { PASSPORT } = ENV;
    const fail = () => fails({ status: 400, message: `no to ${PASSPORT}, and to ${btoa(PASSPORT)}` });
    const { runtime, thread } = await started(fail, MAPPED);
    const failed = (await runtime.store.events.read(thread, 0)).find(({ type }) => type === 'model.failed');
    expect(JSON.stringify(failed)).toContain('no to [secret PASSPORT], and to [secret PASSPORT]');
    const logs = await runtime.client.getLogs(thread, { order: 'asc' });
    expect(JSON.stringify(logs)).not.toContain(PASSPORT);
  });

  it('[runtime 7.4] needs no arguments for it: fields unknown to its schema are passed too', async () => {
    const { child, runtime } = await started(answers({ name: 'Ada', message: 'Tell.' }), {});
    expect(child.name).toBe('Ada');
    const [first] = (await runtime.messages(child.threadId)).filter(({ role }) => role === 'user');
    expect(first?.content).toBe('Tell.');
    expect((await runtime.client.getThread(child.threadId)).arguments).toEqual({});
  });

  it('[runtime 7.4] that is resumable is created with the name and the message', async () => {
    const resumable = { blocking: false, resumable: { receives_messages: 'side_a' as const } };
    const { child, runtime } = await started(answers({ name: 'Ada', message: 'Tell.' }), resumable);
    expect(child).toMatchObject({ name: 'Ada', resumable: true });
    const [first] = (await runtime.messages(child.threadId)).filter(({ role }) => role === 'user');
    expect(first?.content).toBe('Tell.');
  });

  it('[runtime 7.4] calls no model if the variables have no value', async () => {
    const { PASSPORT } = ENV;
    const { asked, child } = await started(answers({}), {}, { PASSPORT });
    expect(asked).toEqual([]);
    expect(child).toMatchObject({ agent: 'scribe' });
  });
});
