/**
 * Values that only a child may have, passed down by its parent (`scopedEnv`) or provided later (runtime §7.4, §7.5),
 * with the real command, while the child's tool tries to leak them: afterwards none is in clear text in the histories
 * of the family, the files of the store, the worker's log, the log of events, or any model request.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import { generateKey, parseKeys } from '../../src/store/crypto/encryption.ts';
import type { FamilyMember } from '../../src/store/family/family-record.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { type CliProject, cliProject, type Running, seen } from '../cli/support.ts';
import { eventually } from '../support/eventually.ts';
import { connectPatiently } from '../support/patient-client.ts';
import { findMarks, MARK, payloadsOf } from '../support/secret-mark.ts';

/** Contains characters that have a special meaning in JSON. */
const PASSPORT = `${MARK} "4711"\n\\ü🐟`;
const VISA = `${MARK} given later`;
const HINT = 'tell of the harbour';
const NAME = 'Ada of Paris';

const agent = (name: string, more: string) => `
import { defineAgent } from 'everthread';
export default defineAgent({
  name: '${name}', type: 'dual_ai', exposeAsTool: true, toolDescription: 'Travels.', maxSessionTurns: 4,
  sideA: { prompt: 'travel', sessionStop: { name: 'finish', messageProperty: 'text' }, sessionStatus: 'leak' },
  sideB: { prompt: 'check' }, variables: [${more}],
});
`;

const prompt = (name: string, more: string) => `
import { definePrompt } from 'everthread';
export default definePrompt({ name: '${name}', toolDescription: '${name}', model: 'scripted', includeChat: true, ${more} });
`;

const FILES: Readonly<Record<string, string>> = {
  'agents/agents/helper.ts': `
import { defineAgent } from 'everthread';
export default defineAgent({ name: 'helper', sideA: { prompt: 'talk' } });
`,
  'agents/agents/envoy.ts': agent('envoy', "{ name: 'PASSPORT', required: true, scoped: true }"),
  'agents/agents/guest.ts': agent('guest', "{ name: 'VISA', required: true, scoped: true }"),
  'agents/prompts/talk.ts': prompt(
    'talk',
    `prompt: 'You talk.', tools: [
      { name: 'envoy', immediate: { nameEnv: 'NAME', descriptionEnv: 'TASK', scopedEnv: ['PASSPORT'] } }, 'guest',
    ]`,
  ),
  'agents/prompts/travel.ts': prompt('travel', "prompt: 'You travel.', tools: ['leak', 'finish']"),
  'agents/prompts/check.ts': prompt('check', "prompt: 'You check.'"),
  'agents/tools/finish.ts': `
import { defineTool } from 'everthread';
import { z } from 'zod';
export default defineTool({ description: 'hands in', args: z.object({ text: z.string() }), execute: async () => 'handed in' });
`,
  'agents/tools/leak.ts': `
import { defineTool } from 'everthread';
export default defineTool({
  description: 'leaks',
  execute: async (state) => {
    const key = (await state.env('PASSPORT').catch(() => '')) + (await state.env('VISA').catch(() => ''));
    await state.notifyParent('mine is ' + key);
    await state.setStatus('with ' + key);
    state.emit('key', { key });
    state.context.key = key;
    const parent = await state.getParentThread();
    await parent.queueMessage({ role: 'user', content: 'of my child: ' + key, metadata: { key } });
    await state.queueMessage({ role: 'user', content: 'to myself: ' + key });
    return 'I have ' + key + ' and its JSON ' + JSON.stringify({ key });
  },
});
`,
  'agents/models/scripted.ts': `
import { appendFileSync } from 'node:fs';
import { defineModel } from 'everthread';
import { calls, says, scriptedModel } from 'everthread/testing';
let invited = 0;
const model = scriptedModel((request) => {
  appendFileSync('requests.ndjson', JSON.stringify(request) + '\\n');
  const [first] = request.messages;
  const last = request.messages.at(-1);
  if (request.toolChoice?.name) return calls(request.toolChoice.name, { name: 'Ada', message: last.content });
  if (!first.content.startsWith('You travel')) return invited++ === 0 ? calls('guest') : says('noted');
  const leaked = request.messages.findLast(({ role }) => role === 'tool');
  return leaked ? calls('finish', { text: 'I saw: ' + JSON.stringify(leaked.content) }) : calls('leak');
});
export default defineModel({ name: 'scripted', provider: model.provider, model: 'scripted-1' });
`,
};

const THREAD = `leaking-${randomUUID()}`;
const taskQueue = `leak-${randomUUID()}`;
const keys = generateKey('k1');
const env = { EVERTHREAD_ENCRYPTION_KEYS: keys, EVERTHREAD_LOG: 'trace', EVERTHREAD_TASK_QUEUE: taskQueue };
let project: CliProject;
let worker: Running;
let store: ThreadStore;
let client: RuntimeClient;
let family: readonly FamilyMember[];
/** All output of commands. */
let told = '';

async function everthread(args: string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await project.run(args, { input, env });
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}:\n${stderr}`);
  told += stdout + stderr;
  return stdout;
}

beforeAll(async () => {
  project = await cliProject(FILES);
  worker = project.start(['worker', '--json'], env);
  await everthread(['env', 'set', 'PASSPORT', '--thread', THREAD], PASSPORT);
  const address = 'sqlite:data/store.db?synchronous=normal';
  store = await openStore(address, project.folder, { keys: parseKeys(keys, 'the test') });
  client = await connectPatiently({ store, taskQueue });
  await client.setEnv({ thread: THREAD }, 'NAME', NAME, { type: 'text' });
  await client.setEnv({ thread: THREAD }, 'TASK', HINT, { type: 'text' });
  await seen(worker, '"event":"ready"');
  await client.startThread({ agent: 'helper', threadId: THREAD, messages: [{ content: 'go' }] });
  await eventually('the request', async () => (await store.variableRequests.list(THREAD)).length === 1);
  const [request] = await store.variableRequests.list(THREAD);
  await everthread(['variables', 'provide', request?.id ?? '', 'VISA'], VISA);
  await eventually('both children are done', async () => {
    family = await store.family.read(THREAD);
    return family.length === 3 && family.slice(1).every(({ thread }) => thread.terminatedAt !== null);
  });
  await client.waitForIdle(THREAD);
});
afterAll(async () => {
  await client?.close();
  await store?.close();
  await project?.remove();
});

const ids = () => family.map(({ thread }) => thread.id);

describe('a value that only a child may have', () => {
  it('[runtime 7.4] reaches the child, and its tool’s output shows the name in its place', async () => {
    for (const [index, name] of ['PASSPORT', 'VISA'].entries()) {
      const { messages } = await client.getMessages(ids()[index + 1] ?? '', { includeSilent: true });
      const leaked = messages.find(({ role, name: tool }) => role === 'tool' && tool === 'leak');
      expect(leaked?.content).toContain(`[secret ${name}]`);
    }
    // The parent keeps its own value, and a provided value belongs only to the child for which it was provided.
    const names = async (id: string) => (await client.listEnv({ thread: id })).map(({ name }) => name);
    expect(await Promise.all(ids().map(names))).toEqual([
      ['NAME', 'PASSPORT', 'TASK'],
      ['NAME', 'PASSPORT', 'TASK'],
      ['NAME', 'PASSPORT', 'TASK', 'VISA'],
    ]);
  });

  it('[runtime 7.4] is not in the histories of parent and children, nor in their payloads', async () => {
    for (const id of ids()) {
      const text = await everthread(['threads', 'export', id, '--format', 'history']);
      expect(findMarks(text)).toEqual([]);
      const payloads = payloadsOf(historyFromJSON(JSON.parse(text)));
      expect(payloads.length).toBeGreaterThan(10);
      expect(payloads.flatMap(findMarks)).toEqual([]);
    }
  });

  it('[runtime 7.4] is encrypted at rest: it is in no file of the store', () => {
    const folder = join(project.folder, 'data');
    const bytes = Buffer.concat(readdirSync(folder).map((file) => readFileSync(join(folder, file))));
    expect(findMarks(bytes)).toEqual([]);
    for (const kept of [NAME, '[secret PASSPORT]', '[secret VISA]', 'subagent_env_required']) {
      expect(bytes.includes(kept)).toBe(true);
    }
  });

  it('[runtime 7.4] is in no message and no event, whatever the tool wrote', async () => {
    for (const id of ids()) {
      const events = await store.events.read(id, 0, 1_000_000);
      const { messages } = await client.getMessages(id, { includeSilent: true, limit: 1000 });
      expect(findMarks(JSON.stringify([events, messages, await client.getLogs(id)]))).toEqual([]);
    }
    const { messages } = await client.getMessages(THREAD, { includeSilent: true, limit: 1000 });
    const text = messages.map(({ content }) => content).join('\n');
    expect(text).toContain('mine is [secret PASSPORT]\n');
    // The guest has inherited PASSPORT from its parent, since its own agent does not declare it as scoped.
    expect(text).toContain('of my child: [secret PASSPORT][secret VISA]');
  });

  it('[runtime 7.4] is in no model request; the bootstrap model sees only the two parent variables that it may', () => {
    const requests = readFileSync(join(project.folder, 'requests.ndjson'), 'utf8');
    expect(findMarks(requests)).toEqual([]);
    // The child's model has read the result of its tool.
    expect(requests).toContain('I have [secret PASSPORT]');
    const bootstrap = requests.split('\n').filter((line) => line.includes('"toolChoice":{"name"'));
    expect(bootstrap).toHaveLength(1);
    expect(bootstrap[0]).toContain(NAME);
    expect(bootstrap[0]).toContain(HINT);
    expect(bootstrap[0]).not.toContain('PASSPORT');
  });

  it('[runtime 7.5] is neither in the log of the worker nor in the output of commands', async () => {
    await everthread(['threads', 'show', THREAD, '--silent', '--json']);
    await everthread(['env', 'list', '--thread', ids()[2] ?? '']);
    expect(worker.stderr()).toContain('TRACE');
    expect(findMarks(worker.stdout() + worker.stderr() + told)).toEqual([]);
  });
});
