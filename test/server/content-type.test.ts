/** Bodies that no route reads: another type than JSON, an unknown charset, compressed. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { API_ROUTES } from '../../src/server/api/routes.ts';
import { scriptedModel } from '../../src/testing/index.ts';
import { testApi } from '../support/api.ts';
import { testRuntime } from '../support/runtime.ts';

/** Routes that read JSON, and those of doors that read their bodies themselves. */
const ROUTES = [
  ...API_ROUTES.filter(({ document, bytes }) => document.request?.body && !bytes),
  ...['/a2a/helper', '/a2a/helper/message:send', '/api/threads'].map((path) => ({ method: 'post', path })),
];
const SHAPES: Readonly<Record<string, Record<string, string>>> = {
  'without a type': {},
  'as text': { 'content-type': 'text/plain;charset=UTF-8' },
  'as a form': { 'content-type': 'application/x-www-form-urlencoded' },
  'in another charset': { 'content-type': 'application/json; charset=latin1' },
  compressed: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
};

describe('a route that reads JSON', () => {
  it('refuses another content type or charset with 415 and the right one, and a missing body with 400', async () => {
    const runtime = await testRuntime({ model: scriptedModel([]) });
    const { url } = await testApi(runtime);
    const { threadId } = await runtime.client.startThread({ agent: 'helper' });
    const refused: unknown[] = [];
    for (const { method, path } of ROUTES) {
      const place = path
        .replace('{threadId}', threadId)
        .replace('{agent}', 'helper')
        .replaceAll(/\{\w+\}/g, randomUUID());
      for (const [shape, headers] of Object.entries(SHAPES)) {
        const body = Buffer.from('{"content":"hi"}');
        const answer = await fetch(`${url}${place}`, { method: method.toUpperCase(), headers, body });
        if (answer.status !== 415 || !/send JSON|send it as it is/.test(await answer.text()))
          refused.push([method, path, shape, answer.status]);
      }
      const { status } = await fetch(`${url}${place}`, { method: method.toUpperCase() });
      if (status >= 500) refused.push([method, path, 'without a body', status]);
    }
    expect(refused).toEqual([]);
    expect(ROUTES.length).toBeGreaterThan(15);
    // What the remedy says opens the door.
    const remedied = await fetch(`${url}/v1/threads/${threadId}/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body: '{"content":"hi","role":"assistant"}',
    });
    expect(remedied.status).toBe(202);
  });
});
