/** Missing required scoped variables of a subagent, provided later (runtime §7.5). */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { REPORT_START } from '../../src/core/thread/subagent-report.ts';
import type { VariableInput } from '../../src/definitions/index.ts';
import { calls, says } from '../../src/testing/index.ts';
import { handsIn, hasResult, lastTold, modelOf } from '../support/child-project.ts';
import {
  type Family,
  NEEDS,
  PASSPORT,
  envoyProject as project,
  reported,
  saysWhatItSaw,
  waiting,
} from '../support/envoy-project.ts';
import { eventually, testRuntime, testStore } from '../support/runtime.ts';

describe('a subagent with missing required scoped variables', () => {
  it('[runtime 7.5] is not created: the call gets a structured error, and the request can be read', async () => {
    const runtime = await testRuntime({ registry: project() });
    const { thread, request } = await waiting(runtime);
    const [result] = (await runtime.messages(thread)).filter(({ role }) => role === 'tool');
    expect(result?.tool_status).toBe('error');
    const structured = {
      error_code: 'subagent_env_required',
      error_data: {
        request_id: request.id,
        endpoint: `/threads/${thread}/variables/${request.id}`,
        required: ['PASSPORT'],
        missing: ['PASSPORT'],
        agent: 'envoy',
      },
    };
    const content = result?.content ?? '';
    expect(JSON.parse(content.slice(content.indexOf('{')))).toEqual({
      error: expect.stringContaining(`everthread variables provide ${request.id}`),
      ...structured,
    });
    expect(result?.metadata).toMatchObject(structured);
    expect(await runtime.client.getVariableRequest(request.id)).toEqual({
      id: request.id,
      parentId: thread,
      agent: 'envoy',
      required: ['PASSPORT'],
      missing: ['PASSPORT'],
      createdAt: expect.any(Number),
      childId: null,
    });
    expect(await runtime.store.children.list(thread)).toEqual([]);
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: noted');
  });

  const OF_DEFINITION: [string, Family][] = [
    ['the agent', { envoy: { variables: NEEDS, env: { PASSPORT } } }],
    [
      'each of its prompts',
      {
        children: {
          envoy: { agent: { variables: NEEDS }, desk: { tools: ['look'], env: { PASSPORT } } },
          clerk: {},
        },
        prompts: { critic: { includeChat: true, env: { PASSPORT } } },
      },
    ],
  ];

  it.each(OF_DEFINITION)('[runtime 7.5] needs no request if %s has a value', async (_who, family) => {
    const runtime = await testRuntime({ registry: project(family) });
    const thread = await runtime.start('go');
    const results = (await runtime.transcript(thread)).filter((line) => line.startsWith('tool'));
    expect(results).toEqual([`tool envoy success: I saw PASSPORT secret ${PASSPORT.length}`]);
  });

  it.each([{ user: 'ada' }, { instance: true }] as const)(
    '[runtime 7.5] needs no request if the store has a value for %p',
    async (owner) => {
      const runtime = await testRuntime({ registry: project() });
      await runtime.client.setEnv(owner, 'PASSPORT', PASSPORT);
      const { threadId } = await runtime.client.startThread({
        agent: 'helper',
        userId: 'ada',
        messages: [{ content: 'go' }],
      });
      await runtime.client.waitForIdle(threadId);
      expect((await runtime.transcript(threadId)).join('\n')).toContain('tool envoy success');
    },
  );

  it('[runtime 7.5] is not satisfied by its parent’s variables, which are not inherited', async () => {
    const runtime = await testRuntime({ registry: project() });
    const { thread, request } = await waiting(runtime, { PASSPORT });
    expect(request.missing).toEqual(['PASSPORT']);
    expect(await runtime.store.children.list(thread)).toEqual([]);
  });

  it('[runtime 7.5] is created and started as soon as they are provided, and its result is a message', async () => {
    const variables: VariableInput[] = [
      ...NEEDS,
      { name: 'CITY', type: 'text', required: true, scoped: true },
    ];
    const runtime = await testRuntime({ registry: project({ envoy: { variables } }) });
    const { thread, request } = await waiting(runtime);
    const values = { PASSPORT, CITY: 'Paris' };
    const { childThreadId } = await runtime.client.provideVariables(thread, request.id, values);
    const [report, ...more] = await reported(runtime, thread);
    expect(more).toEqual([]);
    // The report is a message although the entry blocks: no call waits for it any more.
    expect(report).toMatchObject({ silent: true, metadata: { subagent_id: childThreadId } });
    expect(report?.content).toContain(`I saw PASSPORT secret ${PASSPORT.length}, CITY text 5`);
    expect((await runtime.transcript(thread)).at(-1)).toBe('assistant: noted');
    const child = await runtime.client.getThread(childThreadId);
    expect(child).toMatchObject({ agent: 'envoy', parentId: thread, userId: 'ada' });
    // Listed like any variable of a thread: a secret without its value.
    const listed = await runtime.client.listEnv({ thread: childThreadId });
    expect(listed.map(({ name, type, value }) => [name, type, value])).toEqual([
      ['CITY', 'text', 'Paris'],
      ['PASSPORT', 'secret', undefined],
    ]);
    expect(await runtime.client.listEnv({ thread })).toEqual([]);
    expect(await runtime.client.listVariableRequests(thread)).toEqual([]);
  });

  it('[runtime 7.5] waits through restarts of its workers', async () => {
    const store = await testStore();
    const taskQueue = `restart-${randomUUID()}`;
    const before = await testRuntime({ registry: project(), store, taskQueue });
    const { thread, request } = await waiting(before);
    await before.stopWorker();
    const after = await testRuntime({ registry: project(), store, taskQueue });
    const { childThreadId } = await after.client.provideVariables(thread, request.id, { PASSPORT });
    const [report] = await reported(after, thread);
    expect(report?.content).toMatch(REPORT_START);
    expect(report?.metadata).toMatchObject({ subagent_id: childThreadId });
  });

  it('[runtime 7.5] starts while its parent waits for another subagent', async () => {
    const gate = Promise.withResolvers<void>();
    const model = modelOf({
      main: (request) => {
        const told = lastTold(request);
        if (hasResult(request) || REPORT_START.test(told)) return says('noted');
        return calls(told === 'wait' ? 'clerk' : 'envoy');
      },
      envoy_desk: saysWhatItSaw,
      clerk_desk: async () => {
        await gate.promise;
        return handsIn('filed');
      },
    });
    const runtime = await testRuntime({ registry: project({ model }) });
    const { thread, request } = await waiting(runtime);
    await runtime.client.queueMessage(thread, { content: 'wait' });
    await eventually(
      'the parent waits',
      async () => (await runtime.store.children.list(thread)).length === 1,
    );
    const { childThreadId } = await runtime.client.provideVariables(thread, request.id, { PASSPORT });
    await eventually('the envoy is done', async () => {
      const { terminatedAt } = await runtime.client.getThread(childThreadId);
      return terminatedAt !== null;
    });
    expect((await runtime.client.getThread(thread)).status).not.toBe('idle');
    gate.resolve();
    await reported(runtime, thread);
    expect((await runtime.transcript(thread)).join('\n')).toContain('tool clerk success: filed');
  });

  it('[runtime 7.5] starts though its parent’s workflow was killed', async () => {
    const runtime = await testRuntime({ registry: project() });
    const { thread, request } = await waiting(runtime);
    await runtime.client.temporal.workflow.getHandle(`thread/${thread}`).terminate('by an operator');
    await runtime.client.provideVariables(thread, request.id, { PASSPORT });
    expect(await reported(runtime, thread)).toHaveLength(1);
  });
});
