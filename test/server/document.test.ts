/** The OpenAPI document, and that it describes what is served. */
import { describe, expect, it } from '@jest/globals';
import { API_ROUTES } from '../../src/server/api/routes.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { testRuntime } from '../support/runtime.ts';

interface Operation {
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
});
