/**
 * Scenarios of threads with two AI sides, and of parents with their children: the histories of all of them are kept.
 */
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import { defineTool } from '../../src/definitions/index.ts';
import { calls, callsMany, delays, hangs, says, scriptedModel } from '../../src/testing/index.ts';
import { childProject, handsIn, hasResult, lastTold, modelOf } from '../support/child-project.ts';
import { eventually } from '../support/runtime.ts';
import { create } from '../support/subagent-project.ts';
import { twoSidesProject } from '../support/two-sides.ts';
import { type Scenario, say } from './scenario.ts';

const finish = defineTool({ description: 'hands in', execute: () => ({ status: 'success' }) });
const RESUMABLE = { name: 'scout', resumable: { receives_messages: 'side_a' } } as const;

async function childOf(client: RuntimeClient, threadId: string): Promise<string> {
  return eventually('a child', async () => (await client.store.children.list(threadId))[0]?.threadId);
}

async function streams(client: RuntimeClient, threadId: string): Promise<void> {
  await eventually('text streams', async () =>
    (await client.store.events.read(threadId, 0, 1000)).some((event) => event.type === 'model.chunk'),
  );
}

export const FAMILY_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'two-sides': {
    model: () =>
      scriptedModel([says('draft'), says('shorter'), calls('finish'), says('again'), calls('finish')]),
    registry: (model) =>
      twoSidesProject({
        a: model,
        b: model,
        sideA: { sessionStop: 'finish' },
        sideB: { sessionStop: 'finish' },
        tools: { finish },
      }),
    async live(client, threadId) {
      await say(client, threadId, 'write');
      await say(client, threadId, 'once more');
    },
  },
  'subagent-blocking': {
    model: () =>
      modelOf({
        main: (request) => (hasResult(request) ? says('thanks') : calls('scribe')),
        scribe_desk: () => handsIn('written'),
      }),
    registry: (model) => childProject({ model, entries: ['scribe'], children: { scribe: {} } }),
    live: (client, threadId) => say(client, threadId, 'write'),
  },
  'subprompt-immediate': {
    model: () =>
      modelOf({
        main: (request) => (hasResult(request) ? says('thanks') : calls('consult')),
        consult: () => says('advice'),
        scribe_desk: () => handsIn('written'),
      }),
    registry: (model) =>
      childProject({
        model,
        entries: ['consult'],
        prompts: { consult: { tools: [{ name: 'scribe', immediate: true }] } },
        children: { scribe: {} },
      }),
    live: (client, threadId) => say(client, threadId, 'write'),
  },
  'subagent-parallel': {
    model: () =>
      modelOf({
        main: (request) =>
          lastTold(request) === 'write' && !hasResult(request)
            ? callsMany([{ name: 'scribe' }, { name: 'scribe' }])
            : says('noted'),
        scribe_desk: () => handsIn('written'),
      }),
    registry: (model) =>
      childProject({ model, entries: [{ name: 'scribe', blocking: false }], children: { scribe: {} } }),
    async live(client, threadId) {
      await say(client, threadId, 'write');
      await eventually('both reports', async () => {
        const { messages } = await client.getMessages(threadId, { includeSilent: true });
        return messages.filter(({ metadata }) => metadata.subagent_id && !metadata.queued).length >= 2;
      });
      await client.waitForIdle(threadId);
    },
  },
  'subagent-message': {
    model: () => {
      let reference = '';
      return modelOf({
        main: (request) => {
          if (hasResult(request)) {
            const text = JSON.stringify(request.messages.at(-1));
            reference = /Reference: (\w+)/.exec(text)?.[1] ?? reference;
            return says('noted');
          }
          return lastTold(request) === 'create'
            ? calls('subagent_create', create('begin'))
            : calls('subagent_message', { referenceId: reference, message: 'go on', attachments: [] });
        },
        scout_desk: (request) => handsIn(lastTold(request)),
      });
    },
    registry: (model) => childProject({ model, entries: [RESUMABLE], children: { scout: {} } }),
    async live(client, threadId) {
      await say(client, threadId, 'create');
      await say(client, threadId, 'message');
      await client.terminate(await childOf(client, threadId), 'enough');
      await eventually(
        'the end of the child',
        async () => (await client.store.children.list(threadId))[0]?.terminatedAt != null,
      );
    },
  },
  'subagent-stopped': {
    model: () =>
      modelOf({
        main: (request) => (hasResult(request) ? says('back') : calls('scribe')),
        scribe_desk: () => hangs({ after: 'I think' }),
      }),
    registry: (model) => childProject({ model, entries: ['scribe'], children: { scribe: {} } }),
    async live(client, threadId) {
      await client.queueMessage(threadId, { content: 'write' });
      const child = await childOf(client, threadId);
      await streams(client, child);
      await client.stop(threadId, 'enough');
      await eventually('the child stops', async () => (await client.getThread(child)).status === 'stopped');
      await client.waitForIdle(threadId);
      await client.terminate(threadId, 'over');
      await eventually('the child ends', async () => (await client.getThread(child)).terminatedAt !== null);
      await client.waitForIdle(threadId);
    },
  },
  'subagent-continued': {
    model: () =>
      modelOf({
        main: (request) =>
          hasResult(request) || lastTold(request) !== 'write' ? says('noted') : calls('scribe'),
        scribe_desk: () => delays(2500, handsIn('written')),
      }),
    options: { configuration: { historySoftLimit: 50 } },
    registry: (model) => childProject({ model, entries: ['scribe'], children: { scribe: {} } }),
    async live(client, threadId) {
      await client.queueMessage(threadId, { content: 'write' });
      await childOf(client, threadId);
      // Each message adds at least one event to the waiting run.
      for (let i = 0; i < 10; i++) await client.sendMessage(threadId, { content: `m${i}` });
      await eventually('another run', async () => {
        const { raw } = await client.temporal.workflow.getHandle(`thread/${threadId}`).describe();
        const info = raw.workflowExecutionInfo;
        return info?.firstRunId !== info?.execution?.runId;
      });
      await client.waitForIdle(threadId);
    },
  },
};
