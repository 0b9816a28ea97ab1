/**
 * A project that uses nothing but the standard (`project/`), its own provider included: it loads unchanged, and its
 * threads run on a real server.
 */
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { loadProject } from '../../src/definitions/index.ts';
import { createEndpointHandler } from '../../src/server/index.ts';
import { closeAfterTest, eventually, testRuntime } from '../support/runtime.ts';

const FOLDER = join(import.meta.dirname, 'project');

async function travelRuntime() {
  const { registry, problems, warnings } = await loadProject(FOLDER);
  expect(problems).toEqual([]);
  const runtime = await testRuntime({ registry });
  const endpoints = await createEndpointHandler({ client: runtime.client, registry });
  closeAfterTest(endpoints.close);
  const ask = async (path: string) =>
    (await endpoints.handle(new Request(`http://host.test/api/threads${path}`))).json();
  return { ...runtime, ask, warnings };
}

describe('definitions §2.1 a project written for the standard', () => {
  it('[definitions 2.1] loads unchanged: a helper, a provider tool and a shared name are hints', async () => {
    const { registry, problems, warnings } = await loadProject(FOLDER);
    expect(problems).toEqual([]);
    expect(warnings.map(({ file, field }) => [file, field])).toEqual([
      ['agents/tools/places.ts', undefined],
      ['agents/prompts/desk.ts', 'tools[0].name'],
      ['agents/prompts/desk.ts', 'tools[2].name'],
    ]);
    expect(registry.agents.get('desk')).toMatchObject({
      icon: '/icons/desk.svg',
      sideA: { label: 'Desk' },
      packageName: '@example/travel',
    });
  });

  it('[definitions 5.1] runs with its provider and key, a subagent, hooks, an effect and an endpoint', async () => {
    const { client, store, transcript, ask } = await travelRuntime();
    await client.setEnv({ instance: true }, 'HOUSE_API_KEY', 'key-of-the-house');
    const { threadId } = await client.startThread({
      agent: 'desk',
      arguments: { company: 'Fjord' },
      messages: [{ content: 'Oslo?' }],
    });
    await client.waitForIdle(threadId);
    const answer =
      'You are the desk of Fjord. Be brief. North. Offered: scout, remind_later, weather. At most 200. A reminder waits (en).';
    expect(await transcript(threadId)).toEqual([
      'user: Oslo?',
      'assistant:  -> scout',
      'tool scout success: Found: Oslo has a fjord.',
      'assistant:  -> remind_later',
      'tool remind_later success: A reminder waits (en).',
      `assistant: ${answer}`,
    ]);
    const summary = () => ask(`/${threadId}/summary`);
    await eventually('the reminder', async () => ((await summary()) as { reminder: unknown }).reminder);
    expect(await summary()).toEqual({
      agent: 'Travel desk',
      calls: ['scout', 'remind_later'],
      reminder: 'Found: Oslo has a fjord.',
      last: answer,
    });
    const answered = (await store.events.read(threadId, 0)).filter(({ type }) => type === 'model.answered');
    expect(answered).toMatchObject([{ data: { cost: 0.00002 } }, {}, {}]);
  });

  it('[definitions 5.5] names the variable of its provider’s key if it is missing', async () => {
    const { client, store } = await travelRuntime();
    await client.setEnv({ instance: true }, 'HOUSE_API_KEY', '');
    const { threadId } = await client.startThread({ agent: 'desk', messages: [{ content: 'Oslo?' }] });
    await client.waitForIdle(threadId);
    expect(await store.threads.get(threadId)).toMatchObject({
      status: 'failed',
      lastError: { code: 'auth_error', message: expect.stringContaining('Set HOUSE_API_KEY with') },
    });
    const asked = (await store.events.read(threadId, 0)).filter(({ type }) => type === 'model.called');
    expect(asked).toHaveLength(1);
  });
});
