/** runtime §7.4, the object form of `immediate`: a child's prompts withhold the parent's variables unless promoted. */
import { describe, expect, it } from '@jest/globals';
import { calls, says } from '../../src/testing/index.ts';
import { childProject, handsIn, hasResult, lastTold, modelOf } from '../support/child-project.ts';
import { eventually, testRuntime } from '../support/runtime.ts';
import { create } from '../support/subagent-project.ts';
import { toolOf } from '../support/tool-work.ts';

const NAMES = ['WHO', 'TASK', 'PASSPORT', 'CITY', 'LATER'];
/** A prompt that shows all of these variables. */
const showing = (name: string) => ({
  prompt: [
    { type: 'text' as const, content: `You are ${name}.` },
    ...NAMES.flatMap((property) => [
      { type: 'text' as const, content: ` ${property}=` },
      { type: 'env' as const, property },
    ]),
  ],
  includeChat: true,
  includePastTools: true,
});
const text = (value: string) => ({ value, type: 'text' as const });

const SCRIBE = {
  name: 'scribe',
  resumable: { receives_messages: 'side_a' as const },
  immediate: { nameEnv: 'WHO', descriptionEnv: 'TASK', scopedEnv: ['PASSPORT'] },
};

const CLERK = { name: 'clerk', resumable: { receives_messages: 'side_a' as const } };

/** The scribe is immediate, and has a clerk of its own, who stays; the agent `plain` is started by a call. */
async function family(more: { scribe?: object } = {}) {
  const model = modelOf(
    {
      main: (request) => {
        if (hasResult(request)) return says('done');
        const [verb = ''] = lastTold(request).split(' ');
        if (verb === 'write') return calls('write');
        return verb === 'plain' ? calls('plain', { task: 'sit' }) : says('done');
      },
      scribe_desk: (request) => {
        if (hasResult(request)) return handsIn('done');
        if (lastTold(request) === 'keep') return calls('keep');
        return lastTold(request) === 'again'
          ? handsIn('again')
          : calls('subagent_create', create('sit', { agent: 'clerk' }));
      },
    },
    () => handsIn('here'),
  );
  const write = toolOf(async (state) => {
    await state.setEnv('CITY', 'of-the-parent', { type: 'text' });
    await state.setEnv('PASSPORT', 'passport-renewed', { type: 'text' });
  });
  const keep = toolOf((state) => state.setEnv('CITY', 'of-its-own', { type: 'text' }));
  const runtime = await testRuntime({
    registry: childProject({
      model,
      entries: [SCRIBE, 'plain', 'write'],
      main: showing('main'),
      tools: { write, keep },
      children: {
        scribe: { desk: { ...showing('scribe_desk'), tools: [CLERK, 'keep'] }, agent: more.scribe },
        clerk: { desk: showing('clerk_desk') },
        plain: { desk: showing('plain_desk') },
      },
    }),
  });
  const { threadId: thread } = await runtime.client.startThread({
    agent: 'helper',
    messages: [{ content: 'go' }],
    env: { WHO: text('Ada'), TASK: text('scout'), PASSPORT: text('passport-4711'), CITY: text('Paris') },
  });
  await runtime.client.waitForIdle(thread);
  /** Returns the system text of this prompt's last request. */
  const shown = (name: string) =>
    model.requests
      .map(({ messages }) => String(messages[0]?.content))
      .findLast((each) => each.startsWith(`You are ${name}.`));
  return { ...runtime, model, thread, shown };
}

describe('runtime §7.4 Variables inherited from a parent', () => {
  it('[runtime 7.4] of an immediate child are in no prompt of it or its children, except the two promoted ones', async () => {
    const { client, store, thread, shown, say, model } = await family();
    expect(shown('main')).toBe('You are main. WHO=Ada TASK=scout PASSPORT=passport-4711 CITY=Paris LATER=');
    const withheld = 'WHO=Ada TASK=scout PASSPORT=[withheld PASSPORT] CITY=[withheld CITY] LATER=';
    expect(shown('scribe_desk')).toBe(`You are scribe_desk. ${withheld}`);
    expect(shown('clerk_desk')).toBe(`You are clerk_desk. ${withheld}`);
    await say(thread, 'plain');
    // `plain` has no object form, so its prompts may show what it inherits.
    expect(shown('plain_desk')).toBe(
      'You are plain_desk. WHO=Ada TASK=scout PASSPORT=passport-4711 CITY=Paris LATER=',
    );
    const [scribe = ''] = (await store.children.list(thread)).map(({ threadId }) => threadId);
    expect((await client.listEnv({ thread: scribe })).find(({ name }) => name === 'PASSPORT')).toMatchObject({
      type: 'text',
      value: 'passport-4711',
    });
    // Later changes of the parent are copied and withheld too; what the child sets itself is shown.
    await say(thread, 'write');
    await say(scribe, 'again');
    expect(shown('scribe_desk')).toBe(`You are scribe_desk. ${withheld}`);
    await say(scribe, 'keep');
    expect(shown('scribe_desk')).toContain('CITY=of-its-own');
    const told = model.requests.filter(({ messages }) =>
      /^You are (scribe|clerk)/.test(String(messages[0]?.content)),
    );
    // A later change of the parent replaces that and is withheld again.
    await say(thread, 'write');
    await eventually('the change', async () =>
      (await client.listEnv({ thread: scribe })).some(({ value }) => value === 'of-the-parent'),
    );
    await say(scribe, 'again');
    expect(shown('scribe_desk')).toBe(`You are scribe_desk. ${withheld}`);
    expect(JSON.stringify(told)).not.toMatch(/passport-|Paris|of-the-parent/);
  });

  it('[runtime 7.4] first set by the parent later are in no prompt either, at any depth', async () => {
    const { store, thread, shown, say } = await family();
    const childOf = async (id: string) => (await store.children.list(id))[0]?.threadId ?? '';
    const scribe = await childOf(thread);
    const inherits = () => true;
    const later = { name: 'LATER', value: 'of-the-parent', type: 'text', inherits } as const;
    await store.env.set({ owner: { thread }, ...later });
    await say(scribe, 'again');
    expect(shown('scribe_desk')).toContain('LATER=[withheld LATER]');
    await say(await childOf(scribe), 'again');
    expect(shown('clerk_desk')).toContain('LATER=[withheld LATER]');
    await say(thread, 'again');
    expect(shown('main')).toContain('LATER=of-the-parent');
  });

  it('[definitions 16] keep their type in a descendant, and a secret never becomes a text', async () => {
    const { store, thread } = await family();
    const [scribe = ''] = (await store.children.list(thread)).map(({ threadId }) => threadId);
    const typesOf = async (name: string) =>
      Promise.all(
        [thread, scribe].map(
          async (id) => (await store.env.list({ thread: id })).find((each) => each.name === name)?.type,
        ),
      );
    const set = (name: string, type?: 'text' | 'secret', known?: 'text' | 'secret') =>
      store.env.set({ owner: { thread }, name, value: 'v', type, known, inherits: () => true });
    await store.env.set({ owner: { thread: scribe }, name: 'CITY', value: 'v', type: 'secret' });
    await set('CITY', undefined, 'text');
    expect(await typesOf('CITY')).toEqual(['text', 'secret']);
    await store.env.set({ owner: { thread: scribe }, name: 'KEY', value: 'v', type: 'text' });
    await set('KEY', undefined, 'secret');
    expect(await typesOf('KEY')).toEqual(['secret', 'secret']);
    await set('KEY', 'text');
    expect(await typesOf('KEY')).toEqual(['text', 'text']);
  });

  it('[runtime 7.4] stay hidden if the child waited for another variable, which its prompts may show', async () => {
    const { client, store, thread, shown } = await family({
      scribe: { variables: [{ name: 'LATER', type: 'text', required: true, scoped: true }] },
    });
    const [request] = await store.variableRequests.list(thread);
    await client.provideVariables(thread, request?.id ?? '', { LATER: 'visa' });
    await eventually('the child has begun', async () => shown('scribe_desk') !== undefined);
    expect(shown('scribe_desk')).toBe(
      'You are scribe_desk. WHO=Ada TASK=scout PASSPORT=[withheld PASSPORT] CITY=[withheld CITY] LATER=visa',
    );
  });
});
