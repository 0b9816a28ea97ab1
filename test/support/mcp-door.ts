/** The MCP endpoint of a test's runtime, and the unmodified client of the MCP SDK. */
import { Client, type ElicitResult, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { tokenAccess } from '../../src/server/api/access.ts';
import type { ApiAgent } from '../../src/server/api/host.ts';
import { testApi } from './api.ts';
import { closeAfterTest, type RuntimeOptions, testRuntime } from './runtime.ts';

const HELPER: ApiAgent = { name: 'helper', title: 'Helper', description: 'Helps with anything.' };

export async function door(options: RuntimeOptions, access?: ReturnType<typeof tokenAccess>) {
  const runtime = await testRuntime(options);
  const api = await testApi(runtime, { agents: () => [HELPER], ...(access && { access }) });
  return { runtime, api, url: new URL(`${api.url}/mcp`) };
}

export async function connect(url: URL, mode: 'auto' | 'legacy', headers: Record<string, string> = {}) {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  closeAfterTest(() => client.close());
  return client;
}

export type Told = {
  readonly thread: string;
  readonly execution: string;
  readonly status: string;
  readonly text?: string;
};

export const toldOf = (result: { structuredContent?: unknown }) => result.structuredContent as Told;

/** A client that answers each elicitation form with `fill`, and the forms that it has received. */
export async function person(
  url: URL,
  mode: 'auto' | 'legacy',
  fill: () => ElicitResult | Promise<ElicitResult>,
) {
  const capabilities = { elicitation: { form: {} } };
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode }, capabilities });
  const forms: unknown[] = [];
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    forms.push(params);
    return fill();
  });
  await client.connect(new StreamableHTTPClientTransport(url));
  closeAfterTest(() => client.close());
  return { client, forms };
}
