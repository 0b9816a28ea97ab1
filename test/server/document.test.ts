/** The OpenAPI document, and that it describes the served routes. */
import { execFile } from 'node:child_process';
import { mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { API_ROUTES } from '../../src/server/api/routes.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { expectCheckedIn } from '../support/checked-in.ts';
import { testRuntime } from '../support/runtime.ts';

const ROOT = join(import.meta.dirname, '..', '..');

/** Uses a server like a program whose author has only the document. */
const PROGRAM = `
import { ok } from '@oazapfts/runtime';
import { defaults, getThread, listMessages, listThreads, startThread, waitForIdle } from './client.ts';

defaults.baseUrl = process.argv[2] ?? '';
const { threadId } = await ok(startThread({ agent: 'helper', messages: [{ id: 'm-1', content: 'hi' }] }));
const rested = (): Promise<unknown> =>
  ok(waitForIdle(threadId, { sent: { ids: ['m-1'] } })).catch((error) => {
    // A busy machine: it is asked again.
    if (error.data.code !== 'Timeout') throw error;
    return rested();
  });
await rested();
const { threads } = await ok(listThreads({ limit: 1 }));
const { messages } = await ok(listMessages(threadId));
const missing = await ok(getThread('nowhere')).catch((error) => error.data.code);
console.log(JSON.stringify([threads.length, messages.map(({ content }) => content), missing]));
`;

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly operationId: string;
  readonly summary: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

describe('/openapi.json', () => {
  it('equals the checked-in document (EVERTHREAD_WRITE=1 writes it)', async () => {
    const api = await testApi(await testRuntime({ model: scriptedModel([]) }));
    const { body } = await api.call('GET', '/openapi.json');
    expectCheckedIn('test/server/openapi.json', `${JSON.stringify({ ...body, servers: [] }, null, 1)}\n`);
  });

  it('lists every route once, with a summary, its answer and its problem response', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const api = await testApi(runtime);
    const { body } = await api.call('GET', '/openapi.json');
    expect(body).toMatchObject({
      openapi: '3.1.0',
      components: { securitySchemes: { bearer: { type: 'http' } } },
    });
    const operations = Object.entries(body.paths as Record<string, Record<string, Operation>>).flatMap(
      ([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ method, path, ...operation })),
    );
    expect(operations.map(({ method, path }) => `${method} ${path}`).toSorted()).toEqual(
      API_ROUTES.map(({ method, path }) => `${method} ${path}`).toSorted(),
    );
    const ids = operations.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const { operationId, summary, responses } of operations) {
      expect([operationId, summary.length > 10]).toEqual([operationId, true]);
      expect(Object.keys(responses)).toEqual([expect.stringMatching(/^20\d$/), 'default']);
    }
  });

  it('resolves each of its references, and declares each parameter of a path', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const api = await testApi(runtime);
    const { body } = await api.call('GET', '/openapi.json');
    const refs = JSON.stringify(body).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g);
    const named = [...new Set([...refs].map(([, name]) => name))];
    expect(named.length).toBeGreaterThan(5);
    expect(Object.keys(body.components.schemas)).toEqual(expect.arrayContaining(named));
    for (const [path, methods] of Object.entries(body.paths as Record<string, Record<string, Operation>>)) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).toSorted();
      for (const [method, { parameters = [], operationId }] of Object.entries(methods)) {
        const declared = parameters.filter((each) => each.in === 'path');
        expect([method, path, declared.map(({ name }) => name).toSorted()]).toEqual([method, path, inPath]);
        expect(declared.every(({ required }) => required)).toBe(true);
        expect(operationId).toMatch(/^[a-z]\w+$/);
      }
    }
  });

  it('passes a linter, and yields a generated client that compiles and works', async () => {
    const runtime = await testRuntime({ model: scriptedModel([says('Hello!')]) });
    const api = await testApi(runtime);
    const folder = mkdtempSync(join(process.env.EVERTHREAD_TEST_FOLDER as string, 'document-'));
    const [document, program] = [join(folder, 'openapi.json'), join(folder, 'program.ts')];
    writeFileSync(document, JSON.stringify((await api.call('GET', '/openapi.json')).body));
    writeFileSync(program, PROGRAM);
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'), 'junction');
    const run = async (...line: string[]) => (await promisify(execFile)(process.execPath, line)).stdout;
    const tools = join(ROOT, 'test', 'support', 'openapi-tools.ts');
    expect(JSON.parse(await run(tools, document, join(folder, 'client.ts')))).toEqual([]);
    const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
    const options =
      '--ignoreConfig --noEmit --strict --skipLibCheck --allowImportingTsExtensions --module nodenext --target es2024';
    await run(compiler, ...options.split(' '), '--types', 'node', program);
    expect(JSON.parse(await run(program, api.url))).toEqual([1, ['hi', 'Hello!'], 'ThreadNotFound']);
  });
});
