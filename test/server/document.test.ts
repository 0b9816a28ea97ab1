/** The OpenAPI document, and that it describes what is served. */
import { describe, expect, it } from '@jest/globals';
import { API_ROUTES } from '../../src/server/api/routes.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { testRuntime } from '../support/runtime.ts';

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
  it('names every route once, with a summary, its answer and the problem', async () => {
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

  it('holds together: its references lead somewhere, and a path declares what it names', async () => {
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
});
