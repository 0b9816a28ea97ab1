/** Variables of children (definitions §16): which ones they start with, and which changes reach them later. */
import { describe, expect, it } from '@jest/globals';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, says } from '../../src/testing/index.ts';
import { childProject, handsIn, hasResult, lastTold, modelOf } from '../support/child-project.ts';
import { eventually, type TestRuntime, testRuntime } from '../support/runtime.ts';

/** Reports the lengths of the values: the values themselves would be redacted from a result. */
const look = defineTool({
  description: 'looks',
  execute: async (state) => {
    const seen: string[] = [];
    for (const name of ['SHARED', 'CITY', 'OWN', 'LATER']) {
      const value = await state.env(name).catch(() => undefined);
      seen.push(`${name} ${value === undefined ? '-' : value.length}`);
    }
    return { status: 'success', result: seen.join(', ') };
  },
});
const write = defineTool({
  description: 'writes',
  execute: async (state) => {
    await state.setEnv('SHARED', 'changed');
    await state.setEnv('OWN', 'changed');
    await state.setEnv('LATER', 'new');
    return { status: 'success', result: 'written' };
  },
});

const RESUMABLE = { resumable: { receives_messages: 'side_a' as const } };
const create = (agent: string) =>
  calls('subagent_create', { agent, message: 'make the clerk', attachments: [], name: agent });

/** The helper has a scribe, which has a clerk; both are resumable. The scribe scopes OWN to itself. */
async function family(): Promise<TestRuntime> {
  const model = modelOf({
    main: (request) => {
      if (hasResult(request)) return says('done');
      if (lastTold(request) === 'go') return create('scribe');
      return lastTold(request) === 'write' ? calls('write') : says('noted');
    },
    scribe_desk: (request) => {
      const last = request.messages.at(-1);
      if (last?.role !== 'tool') return lastTold(request) === 'look' ? calls('look') : create('clerk');
      return handsIn(last.toolName === 'look' ? String(last.content) : 'made');
    },
    clerk_desk: () => handsIn('here'),
  });
  const registry = childProject({
    model,
    entries: [{ name: 'scribe', ...RESUMABLE }, 'write'],
    tools: { look, write },
    children: {
      scribe: {
        agent: { variables: [{ name: 'OWN', scoped: true }] },
        desk: { tools: ['look', { name: 'clerk', ...RESUMABLE }] },
      },
      clerk: {},
    },
  });
  return testRuntime({ registry });
}

async function begin(runtime: TestRuntime) {
  const { threadId: thread } = await runtime.client.startThread({
    agent: 'helper',
    messages: [{ content: 'go' }],
    env: { SHARED: 'a secret', OWN: 'of the helper', CITY: { value: 'Paris', type: 'text' } },
  });
  await eventually('the family', async () => (await runtime.store.family.read(thread)).length === 3);
  const [, scribe = '', clerk = ''] = (await runtime.store.family.read(thread)).map((each) => each.thread.id);
  for (const id of [clerk, scribe, thread]) await runtime.client.waitForIdle(id);
  return { thread, scribe, clerk };
}

async function listed({ client }: TestRuntime, thread: string) {
  return (await client.listEnv({ thread })).map(({ name, type, value }) => [name, type, value]);
}

describe('the variables of a child', () => {
  it('[definitions 16] are those of its parent with their types, except the ones its agent declares scoped', async () => {
    const runtime = await family();
    const { scribe, clerk } = await begin(runtime);
    const taken = [
      ['CITY', 'text', 'Paris'],
      ['SHARED', 'secret', undefined],
    ];
    expect(await listed(runtime, scribe)).toEqual(taken);
    // The clerk has the variables of its parent, the scribe, which never had OWN.
    expect(await listed(runtime, clerk)).toEqual(taken);
    await runtime.say(scribe, 'look');
    expect((await runtime.transcript(scribe)).filter((line) => line.startsWith('tool look'))).toEqual([
      'tool look success: SHARED 8, CITY 5, OWN -, LATER -',
    ]);
  });

  it('[definitions 16] follow changes by a tool of the parent, except scoped ones, while the child lives', async () => {
    const runtime = await family();
    const { thread, scribe, clerk } = await begin(runtime);
    await runtime.client.terminate(clerk);
    await eventually('its end', async () => (await runtime.client.getThread(clerk)).terminatedAt !== null);
    await runtime.say(thread, 'write');
    const names = async (id: string) => (await listed(runtime, id)).map(([name]) => name);
    expect(await names(thread)).toEqual(['CITY', 'LATER', 'OWN', 'SHARED']);
    expect(await names(scribe)).toEqual(['CITY', 'LATER', 'SHARED']);
    expect(await names(clerk)).toEqual(['CITY', 'SHARED']);
    await runtime.say(scribe, 'look');
    expect((await runtime.transcript(scribe)).filter((line) => line.startsWith('tool look'))).toEqual([
      'tool look success: SHARED 7, CITY 5, OWN -, LATER 3',
    ]);
  });
});
