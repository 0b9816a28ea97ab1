/**
 * Tools that try to leak secrets, with the real command: afterwards no secret is in clear text in the workflow's
 * history, the files of the store, the worker's log, the log of events, or any model request.
 * Every secret contains the word MARK, which occurs nowhere else: a remaining fragment of one is found too.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import type { RuntimeClient } from '../../src/client/runtime-client.ts';
import { generateKey, parseKeys } from '../../src/store/crypto/encryption.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { ThreadStore } from '../../src/store/store.ts';
import { type CliProject, cliProject, HELPER, type Running, seen } from '../cli/support.ts';
import { eventually } from '../support/eventually.ts';
import { connectPatiently } from '../support/patient-client.ts';
import { findMarks, MARK, payloadsOf } from '../support/secret-mark.ts';

/** Contains characters that have a special meaning in JSON, URLs and patterns. */
const KEY = `${MARK} "4711"\n\\/+=&%20$1 ü🐟`;
const SHOWN = 'Marseille';

const TOOLS: Readonly<Record<string, string>> = {
  result: "const key = await state.env('KEY'); return { status: 'success', result: key + forms(key) };",
  text: "return [await state.env('KEY'), { deep: await state.env('USER_KEY') }, await state.env('CITY')];",
  error:
    "const key = await state.env('KEY'); return { status: 'error', error: forms(key), stack: 'at ' + key };",
  thrown:
    "const key = await state.env('KEY'); throw new Error('refused: ' + key, { cause: new Error(key) });",
  code: `const key = await state.env('KEY');
    const run = await state.runCode('console.log(key); console.error({ key }); export default [key]', { globals: { key } });
    return { status: 'success', result: JSON.stringify(run) };`,
  code_error: `const key = await state.env('KEY');
    const run = await state.runCode('throw new TypeError("with " + key)', { globals: { key } });
    throw new Error(run.error.stack + JSON.stringify(run));`,
  invoked:
    "const made = await state.invokeTool('leak_result', {}); return JSON.stringify(JSON.stringify(made));",
  written: `await state.setEnv('MADE', '${MARK} made by the tool');
    const made = await state.env('MADE');
    await state.setEnv('MADE', '${MARK} made anew');
    return made + ', ' + (await state.env('MADE')) + ', ' + (await state.env('INSTANCE_KEY'));`,
  emitted: `const key = await state.env('KEY');
    state.emit('key', { deep: [key] });
    state.emit(key, forms(key));
    return 'emitted [secret KEY]';`,
  messages: `const key = await state.env('KEY');
    const { id } = await state.injectMessage({ role: 'system', content: 'the key ' + key, metadata: { key, [key]: 1 } });
    await state.updateMessage(id, { content: forms(key), metadata: { more: [key] } });
    await state.queueMessage({ role: 'assistant', content: 'its ' + key, metadata: { key } });
    return (await state.getMessage(id)).content;`,
  files: `const key = await state.env('KEY');
    const path = '/notes/' + key + '.txt';
    await state.mkdirFile('/folder of ' + key);
    await state.writeFile(path, 'nothing', 'text/plain', { metadata: { key } });
    const data = Buffer.from('nothing').toString('base64');
    const attachments = [path, { name: key + '.txt', mimeType: 'text/plain', data, description: key }];
    return { status: 'success', result: String(await state.statFile(path).then(({ path: found }) => found)), attachments };`,
  scratch: `state.context.key = forms(await state.env('KEY'));
    return 'kept [secret KEY]';`,
  scheduled: `await state.scheduleEffect('leak_later', { key: forms(await state.env('KEY')) });
    return 'scheduled [secret KEY]';`,
  hooked: `return 'a hook adds the key: [secret KEY]';`,
  breaking: "globalThis.leaked = forms(await state.env('KEY')); return 'the next model call fails';",
};

const toolFile = (body: string, more: string) => `
import { defineTool } from 'everthread';
const forms = (key) => [
  key, JSON.stringify({ key }), JSON.stringify(JSON.stringify([key])), encodeURIComponent(key),
  new URLSearchParams({ key }).toString(), Buffer.from(key).toString('base64'), Buffer.from('user:' + key).toString('base64'),
  Buffer.from('a' + key + 'b').toString('base64url'),
].join(' | ');
export default defineTool({ description: 'leaks', ${more} execute: async (state) => { ${body} } });
`;

/** Each hook reads the secret and passes it on wherever it can. */
const HOOKS: Readonly<Record<string, string>> = {
  leak_system:
    "hook: 'after_system_message', execute: async (state, text) => text + ' Key: ' + (await state.env('KEY')),",
  leak_history: `hook: 'prefilter_llm_history', execute: async (state, messages) => {
    const [system, ...rest] = messages;
    return [system, { role: 'assistant', content: 'I know ' + (await state.env('KEY')) }, ...rest];
  },`,
  leak_result: `hook: 'before_store_tool_result', execute: async (state, call, result) => {
    const key = await state.env('KEY');
    state.context.hooked = key;
    if (call.function.name === 'leak_hooked') return { ...result, result: result.result + key };
    throw new Error('the hook fails with ' + key);
  },`,
  leak_message: `hook: 'before_create_message', execute: async (state, message) => ({
    metadata: { ...message.metadata, key: await state.env('KEY') },
  }),`,
};

const hookFile = (id: string, body: string) => `
import { defineHook } from 'everthread';
export default defineHook({ id: '${id}', ${body} });
`;

const FILES: Readonly<Record<string, string>> = {
  ...HELPER,
  'agents/prompts/talk.ts': `
import { definePrompt } from 'everthread';
export default definePrompt({
  name: 'talk', hooks: ['leak_system', 'leak_history', 'leak_result', 'leak_message'], toolDescription: 'Talks.', model: 'scripted', includeChat: true, includePastTools: true,
  prompt: [
    { type: 'text', content: 'The key is ' }, { type: 'env', property: 'KEY' },
    { type: 'text', content: ' in ' }, { type: 'env', property: 'CITY' },
  ],
  tools: ${JSON.stringify([...Object.keys(TOOLS), 'quick'].map((name) => `leak_${name}`))},
});
`,
  'agents/models/scripted.ts': `
import { appendFileSync } from 'node:fs';
import { defineModel } from 'everthread';
import { calls, fails, says, scriptedModel } from 'everthread/testing';
const model = scriptedModel((request) => {
  appendFileSync('requests.ndjson', JSON.stringify(request) + '\\n');
  const last = request.messages.at(-1);
  const message = globalThis.leaked;
  delete globalThis.leaked;
  if (message) return fails({ status: 400, message: 'your key ' + message + ' is refused' });
  return last.role === 'user' ? calls(last.content) : says('I saw: ' + JSON.stringify(last.content));
});
export default defineModel({ name: 'scripted', provider: model.provider, model: 'scripted-1' });
`,
  'agents/effects/leak_later.ts': `
import { defineEffect } from 'everthread';
export default defineEffect('leaks later', async (state) => {
  const key = await state.env('KEY');
  await state.queueMessage({ role: 'assistant', content: 'later, ' + key });
  throw new Error('the effect fails with ' + key);
});
`,
  ...Object.fromEntries(
    Object.entries(HOOKS).map(([name, body]) => [`agents/hooks/${name}.ts`, hookFile(name, body)]),
  ),
  ...Object.fromEntries(
    Object.entries(TOOLS).map(([name, body]) => [`agents/tools/leak_${name}.ts`, toolFile(body, '')]),
  ),
  'agents/tools/leak_quick.ts': toolFile(TOOLS.result as string, 'quick: true,'),
};

const THREAD = `leaking-${randomUUID()}`;
/** Tools in the order of their calls. The last one makes the next model request fail. */
const CALLED = [...Object.keys(TOOLS).filter((name) => name !== 'breaking'), 'quick', 'breaking'].map(
  (name) => `leak_${name}`,
);
let project: CliProject;
let worker: Running;
let store: ThreadStore;
let client: RuntimeClient;
const taskQueue = `leak-${randomUUID()}`;
const keys = generateKey('k1');
const env = { EVERTHREAD_ENCRYPTION_KEYS: keys, EVERTHREAD_LOG: 'trace', EVERTHREAD_TASK_QUEUE: taskQueue };

async function everthread(args: string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await project.run(args, { input, env });
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}:\n${stderr}`);
  return stdout;
}

async function effectFailed(): Promise<boolean> {
  return (await store.events.read(THREAD, 0, 1_000_000)).some((event) => event.type === 'effect.failed');
}

beforeAll(async () => {
  project = await cliProject(FILES);
  worker = project.start(['worker', '--json'], env);
  // Set as a person would: from standard input, before the thread exists.
  await everthread(['env', 'set', 'KEY', '--thread', THREAD], KEY);
  const address = 'sqlite:data/store.db?synchronous=normal';
  store = await openStore(address, project.folder, { keys: parseKeys(keys, 'the test') });
  client = await connectPatiently({ store, taskQueue });
  await client.setEnv({ instance: true }, 'KEY', `${MARK} of the instance`);
  await client.setEnv({ instance: true }, 'INSTANCE_KEY', `${MARK} of all`);
  await client.setEnv({ user: 'ada' }, 'USER_KEY', `${MARK} of ada`);
  await client.setEnv({ instance: true }, 'CITY', SHOWN, { type: 'text' });
  await seen(worker, '"event":"ready"');
  await client.startThread({ agent: 'helper', threadId: THREAD, userId: 'ada' });
  for (const name of CALLED) {
    await client.queueMessage(THREAD, { content: name });
    await client.waitForIdle(THREAD);
    // The effect queues a message: if that came after the next message of this loop, the model would answer it instead.
    if (name === 'leak_scheduled') await eventually('the effect has failed', effectFailed);
  }
});
afterAll(async () => {
  await client?.close();
  await store?.close();
  await project?.remove();
});

describe('a secret that tools try to leak', () => {
  it('reaches the tools, and each of them returns', async () => {
    const { messages } = await client.getMessages(THREAD, { limit: 1000, includeSilent: true });
    const results = messages
      .filter(({ role }) => role === 'tool')
      .map(({ name, content }) => `${name}: ${content}`);
    expect(results.map((result) => result.split(':')[0])).toEqual(CALLED);
    for (const result of results.slice(0, -1)) expect(result).toContain('[secret ');
    // Values that may be shown are shown; the search below would find them.
    expect(results[1]).toContain(`["[secret KEY]",{"deep":"[secret USER_KEY]"},"${SHOWN}"]`);
    expect(results[7]).toBe('leak_written: [secret MADE], [secret MADE], [secret INSTANCE_KEY]');
    expect(findMarks(JSON.stringify(messages))).toEqual([]);
  });

  it('is not in the history of the workflow, nor in its payloads', async () => {
    const text = await everthread(['threads', 'export', THREAD, '--format', 'history']);
    expect(findMarks(text)).toEqual([]);
    const payloads = payloadsOf(historyFromJSON(JSON.parse(text)));
    expect(payloads.length).toBeGreaterThan(20);
    expect(payloads.flatMap(findMarks)).toEqual([]);
    // The failed step is in the history, with the provider's message.
    expect(payloads.map(String).join('\n')).toContain('your key [secret KEY] | {');
  });

  it('is not in the files of the store', () => {
    const folder = join(project.folder, 'data');
    const files = readdirSync(folder);
    expect(files).toContain('store.db-wal');
    const bytes = Buffer.concat(files.map((file) => readFileSync(join(folder, file))));
    expect(findMarks(bytes)).toEqual([]);
    for (const kept of [SHOWN, '[secret KEY]', 'tool.result', 'your key [secret KEY]']) {
      expect(bytes.includes(kept)).toBe(true);
    }
  });

  it('is not in the log of events, nor in the last error', async () => {
    const events = await store.events.read(THREAD, 0, 1_000_000);
    const lines = events.map((event) => JSON.stringify(event)).join('\n');
    expect(findMarks(lines)).toEqual([]);
    expect(lines).toMatch(/"type":"model.failed".*your key \[secret KEY\]/);
    expect(lines).toMatch(/"type":"step.failed".*your key \[secret KEY\]/);
    for (const type of ['effect.scheduled', 'effect.failed', 'hook.failed', 'custom', 'message.updated']) {
      expect(lines).toContain(`"type":"${type}"`);
    }
    expect(lines).toMatch(/"type":"effect.failed".*the effect fails with \[secret KEY\]/);
    expect(lines).toMatch(/"type":"hook.failed".*the hook fails with \[secret KEY\]/);
    expect((await client.getThread(THREAD)).lastError?.message).toContain('your key [secret KEY] | {');
  });

  it('is in no model request: the model sees its name', () => {
    const requests = readFileSync(join(project.folder, 'requests.ndjson'), 'utf8');
    expect(requests.trim().split('\n')).toHaveLength(2 * CALLED.length);
    expect(requests).toContain(`The key is [secret KEY] in ${SHOWN}`);
    expect(findMarks(requests)).toEqual([]);
  });

  it('is neither in the log of the worker nor in the output of commands', async () => {
    expect(worker.stderr()).toContain('TRACE');
    expect(findMarks(worker.stdout() + worker.stderr())).toEqual([]);
    const listed =
      (await everthread(['env', 'list', '--instance'])) +
      (await everthread(['env', 'list', '--thread', THREAD, '--json']));
    expect(listed).toMatch(new RegExp(`CITY +text .*${SHOWN}`));
    expect(listed).toMatch(/INSTANCE_KEY +secret .*\(not shown\)/);
    expect(listed).toContain('"MADE"');
    expect(findMarks(listed)).toEqual([]);
  });
});
