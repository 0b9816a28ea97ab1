/** The HTTP API of a test's runtime, behind a real socket; closed after the test. */

import { serveApi } from '../../src/cli/serve/serve-api.ts';
import { type ApiOptions, createApi } from '../../src/server/api/create-api.ts';
import { closeAfterTest, type TestRuntime } from './runtime.ts';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the JSON of any route
  readonly body: any;
}

export interface TestApi {
  readonly url: string;
  /** Sends a request with a JSON body; parses the response if it is JSON. */
  call(
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  close(): Promise<void>;
}

export async function testApi(
  { client }: Pick<TestRuntime, 'client'>,
  options: Omit<ApiOptions, 'client'> = {},
): Promise<TestApi> {
  const served = await serveApi(createApi({ client, ...options }), { host: '127.0.0.1', port: 0 });
  closeAfterTest(served.close);
  return {
    url: served.url,
    close: served.close,
    async call(method, path, body, headers = {}) {
      const sent = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
      const response = await fetch(`${served.url}${path}`, {
        method,
        headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...sent,
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: readJson(text) };
    },
  };
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
