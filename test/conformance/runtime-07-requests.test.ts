/** Requests for variables: each can be fulfilled once; which answers are refused (runtime §7.5). */
import { describe, expect, it } from '@jest/globals';
import type { VariableInput } from '../../src/definitions/index.ts';
import { calls, says } from '../../src/testing/index.ts';
import { childProject, handsIn, hasResult, lastTold, modelOf } from '../support/child-project.ts';
import {
  NEEDS,
  PASSPORT,
  envoyProject as project,
  reported,
  reports,
  waiting,
} from '../support/envoy-project.ts';
import { eventually, testRuntime } from '../support/runtime.ts';

describe('a request for variables', () => {
  it('[runtime 7.5] is fulfilled once, and refuses invalid values with a code', async () => {
    const variables: VariableInput[] = [...NEEDS, { name: 'VISA', required: true, scoped: true }];
    const runtime = await testRuntime({ registry: project({ envoy: { variables } }) });
    const { client } = runtime;
    const { thread, request } = await waiting(runtime);
    const provide = (values: Record<string, string>, id = request.id, of = thread) =>
      client.provideVariables(of, id, values).catch((error: { code: string; message: string }) => error);
    expect(await provide({ PASSPORT })).toMatchObject({
      code: 'MissingVariable',
      message: expect.stringContaining('"VISA"'),
    });
    expect(await provide({ 'PASS=PORT': 'x' })).toMatchObject({ code: 'InvalidVariable' });
    expect(await provide({ PASSPORT, VISA: 'x' }, 'nobody')).toMatchObject({
      code: 'VariableRequestNotFound',
    });
    const other = await client.startThread({ agent: 'helper' });
    await client.waitForIdle(other.threadId);
    expect(await provide({ PASSPORT, VISA: 'x' }, request.id, other.threadId)).toMatchObject({
      code: 'VariableRequestNotFound',
    });
    await expect(client.getVariableRequest('nobody')).rejects.toMatchObject({
      code: 'VariableRequestNotFound',
    });
    expect(await runtime.store.children.list(thread)).toEqual([]);
    const served = (await provide({ PASSPORT, VISA: 'x' })) as { childThreadId: string };
    expect(await provide({ PASSPORT: 'other', VISA: 'other' })).toMatchObject({
      code: 'VariableRequestUsed',
      message: expect.stringContaining(served.childThreadId),
    });
    expect(await client.getVariableRequest(request.id)).toMatchObject({ childId: served.childThreadId });
    const [report] = await reported(runtime, thread);
    expect(report?.content).toContain(`PASSPORT secret ${PASSPORT.length}, VISA secret 1`);
    expect(await runtime.store.children.list(thread)).toHaveLength(1);
  });

  it('[runtime 7.2] follows maxInstances, which is checked before variables are requested and again when they arrive', async () => {
    const model = modelOf({
      main: (request) =>
        hasResult(request) || !lastTold(request).startsWith('go')
          ? says('noted')
          : calls('subagent_create', { agent: 'envoy', message: 'x', attachments: [], name: 'x' }),
      envoy_desk: () => handsIn('here'),
    });
    const envoy = {
      name: 'envoy',
      blocking: false,
      resumable: {
        receives_messages: 'side_a' as const,
        maxInstances: 1,
        parentCommunication: 'explicit' as const,
      },
    };
    const runtime = await testRuntime({
      registry: childProject({
        model,
        entries: [envoy],
        children: { envoy: { agent: { variables: NEEDS } } },
      }),
    });
    const { client } = runtime;
    const { thread, request: first } = await waiting(runtime);
    await runtime.say(thread, 'go on');
    const [, second] = await client.listVariableRequests(thread);
    const { childThreadId } = await client.provideVariables(thread, first.id, { PASSPORT });
    await runtime.say(thread, 'go on and on');
    const results = (await runtime.messages(thread)).filter(({ role }) => role === 'tool');
    expect(results).toHaveLength(3);
    expect(results[2]).toMatchObject({
      tool_status: 'error',
      content: expect.stringMatching(`one subagent "envoy" at a time.*${childThreadId}.*subagent_message`),
    });
    expect((await client.listVariableRequests(thread)).map(({ id }) => id)).toEqual([second?.id]);
    await expect(client.provideVariables(thread, second?.id ?? '', { PASSPORT })).rejects.toMatchObject({
      code: 'LimitExceeded',
    });
    expect(await runtime.store.children.list(thread)).toHaveLength(1);
  });

  it('[runtime 7.5] of a thread that is terminated is refused', async () => {
    const runtime = await testRuntime({ registry: project() });
    const { thread, request } = await waiting(runtime);
    await runtime.client.terminate(thread);
    await eventually('its end', async () => (await runtime.client.getThread(thread)).terminatedAt !== null);
    await expect(runtime.client.provideVariables(thread, request.id, { PASSPORT })).rejects.toMatchObject({
      code: 'ThreadTerminated',
    });
  });

  it('[runtime 7.5] of an immediate subagent stores the parent’s values, encrypted, until it is fulfilled', async () => {
    const variables: VariableInput[] = [...NEEDS, { name: 'VISA', required: true, scoped: true }];
    const runtime = await testRuntime({
      registry: project({
        envoy: { variables },
        entries: [{ name: 'envoy', immediate: { scopedEnv: ['PASSPORT'] } }],
      }),
    });
    const { threadId } = await runtime.client.startThread({
      agent: 'helper',
      messages: [{ content: 'Subagent (reference: none) is no call.' }],
      env: { PASSPORT },
    });
    await runtime.client.waitForIdle(threadId);
    const [request] = await runtime.client.listVariableRequests(threadId);
    expect(request).toMatchObject({ required: ['PASSPORT', 'VISA'], missing: ['VISA'] });
    await runtime.client.setEnv({ thread: threadId }, 'PASSPORT', 'changed since');
    const id = request?.id ?? '';
    const { childThreadId } = await runtime.client.provideVariables(threadId, id, { VISA: 'v' });
    await eventually('the report', async () => (await reports(runtime, threadId)).length === 2);
    const report = (await reports(runtime, threadId)).at(-1);
    expect(report?.content).toContain(`${childThreadId}`);
    expect(report?.content).toContain(`PASSPORT secret ${PASSPORT.length}, VISA secret 1`);
  });
});
