/** What a refusal names to set or to send: once that is done, the request succeeds. */
import { readdirSync, readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { loopbackAccess, tokenAccess } from '../../src/server/api/access.ts';
import { says, scriptedModel } from '../../src/testing/index.ts';
import { type TestApi, testApi } from '../support/api.ts';
import { connect } from '../support/mcp-door.ts';
import { type TestRuntime, testRuntime } from '../support/runtime.ts';

const TOKEN = 'token'.padEnd(20, '-');
const PAGE = 'https://app.example';
const bearer = { authorization: `Bearer ${TOKEN}` };
const HELPER = {
  name: 'helper',
  title: null,
  description: null,
  arguments: {
    schema: { type: 'object', properties: { city: { type: 'string' } } },
    check: async (value: object) => ({ ok: true as const, value: { ...value } }),
  },
};

interface Told {
  readonly status: number;
  readonly text: string;
}

interface Site {
  readonly runtime: TestRuntime;
  readonly api: TestApi;
}

interface Remedy {
  /** Part of the refusal, as the source has it. */
  readonly says: string;
  readonly refused: (site: Site) => Promise<Told>;
  readonly remedied: (site: Site) => Promise<Told>;
}

async function ask({ url }: Pick<TestApi, 'url'>, path: string, init?: RequestInit): Promise<Told> {
  const answer = await fetch(url + path, init);
  return { status: answer.status, text: await answer.text() };
}

const posted = (body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

/** Asks as a machine of another name; `fetch` sets the host header itself. */
const askAs = (url: string, host: string, headers: Readonly<Record<string, string>> = {}) =>
  new Promise<Told>((resolve, reject) => {
    const asked = httpRequest(`${url}/v1/threads`, { headers: { host, ...headers } }, async (answer) => {
      const text = (await answer.toArray()).join('');
      resolve({ status: answer.statusCode ?? 0, text });
    });
    asked.on('error', reject).end();
  });

const preflight: RequestInit = {
  method: 'OPTIONS',
  headers: { origin: PAGE, 'access-control-request-method': 'GET' },
};
const withTokens = ({ runtime }: Site) => testApi(runtime, { access: tokenAccess(TOKEN), origins: [PAGE] });
const start = { agent: 'helper' };
const text = (content: string) => ({ role: 'user', parts: [{ type: 'text', text: content }] });
const chat = ({ api }: Site, body: object) => ask(api, '/v1/agents/helper/chat', posted(body));
const A2A = { 'a2a-version': '1.0' };
const a2a = ({ api }: Site, message: object, headers: Readonly<Record<string, string>> = A2A) =>
  ask(api, '/a2a/helper/message:send', posted({ message: { role: 'ROLE_USER', ...message } }, headers));
const parts = [{ text: 'hi' }];

/** Calls the agent with a thread that has begun. */
async function callTool({ runtime, api }: Site, given: Readonly<Record<string, string>>): Promise<Told> {
  const { threadId } = await runtime.client.startThread(start);
  const client = await connect(new URL(`${api.url}/mcp`), 'legacy');
  const { isError, content } = await client.callTool({
    name: 'helper',
    arguments: { thread: threadId, ...given },
  });
  return { status: isError ? 400 : 200, text: JSON.stringify(content) };
}

const REMEDIES: readonly Remedy[] = [
  {
    says: 'set EVERTHREAD_API_TOKENS, and send a token',
    refused: ({ api }) => askAs(api.url, 'agents.example'),
    remedied: async (site) => askAs((await withTokens(site)).url, 'agents.example', bearer),
  },
  {
    says: 'set EVERTHREAD_API_TOKENS, give a token to the page, and',
    refused: ({ api }) => ask(api, '/v1/threads', { headers: { origin: PAGE } }),
    remedied: async (site) =>
      ask(await withTokens(site), '/v1/threads', { headers: { origin: PAGE, ...bearer } }),
  },
  {
    // The page's origin is permitted already, so tokens are all that is missing.
    says: 'set EVERTHREAD_API_TOKENS, give a token to the page, and',
    refused: async ({ runtime }) => {
      const open = await testApi(runtime, { access: loopbackAccess, origins: [PAGE] });
      return ask(open, '/v1/threads', { headers: { origin: PAGE } });
    },
    remedied: async (site) =>
      ask(await withTokens(site), '/v1/threads', { headers: { origin: PAGE, ...bearer } }),
  },
  {
    says: 'set EVERTHREAD_API_ORIGINS to ',
    refused: ({ api }) => ask(api, '/v1/threads', preflight),
    remedied: async (site) => ask(await withTokens(site), '/v1/threads', preflight),
  },
  {
    says: 'send JSON, as application/json',
    refused: ({ api }) => ask(api, '/v1/threads', { method: 'POST', body: JSON.stringify(start) }),
    remedied: ({ api }) => ask(api, '/v1/threads', posted(start)),
  },
  {
    says: 'send JSON in UTF-8',
    refused: ({ api }) =>
      ask(api, '/v1/threads', posted(start, { 'content-type': 'application/json; charset=latin1' })),
    remedied: ({ api }) =>
      ask(api, '/v1/threads', posted(start, { 'content-type': 'application/json; charset=UTF-8' })),
  },
  {
    says: 'send it as it is',
    refused: ({ api }) => ask(api, '/v1/threads', posted(start, { 'content-encoding': 'gzip' })),
    remedied: ({ api }) => ask(api, '/v1/threads', posted(start, { 'content-encoding': 'identity' })),
  },
  {
    says: 'The request has no body: send JSON',
    refused: ({ api }) => ask(api, '/v1/threads', { method: 'POST' }),
    remedied: ({ api }) => ask(api, '/v1/threads', posted(start)),
  },
  {
    says: 'send a message of the user',
    refused: (site) => chat(site, { id: 'ends', messages: [{ id: 'm', ...text('hi'), role: 'assistant' }] }),
    remedied: (site) => chat(site, { id: 'ends', messages: [{ id: 'm', ...text('hi') }] }),
  },
  {
    says: 'send the header "A2A-Version: ',
    refused: (site) => a2a(site, { messageId: 'versionless', parts }, {}),
    remedied: (site) => a2a(site, { messageId: 'versionless', parts }),
  },
  {
    says: 'send the message to its context, ',
    async refused(site) {
      const { text: task } = await a2a(site, { messageId: 'first', contextId: 'ended', parts });
      return a2a(site, { messageId: 'second', taskId: JSON.parse(task).task.id, parts });
    },
    remedied: (site) => a2a(site, { messageId: 'second', contextId: 'ended', parts }),
  },
  {
    says: 'Send them as a message',
    refused: (site) => callTool(site, { message: 'hi', city: 'Rome' }),
    remedied: (site) => callTool(site, { message: 'city: Rome' }),
  },
];

/** Told when an answer is cut off: test/server/openai shows that the same request reads it. */
const ELSEWHERE = ['send the same request again to read it'];

/** Sentences in the sources that tell what to set or to send. */
function sentences(): string[] {
  const folder = join(import.meta.dirname, '..', '..', 'src', 'server');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .flatMap((path) => readFileSync(join(folder, path), 'utf8').split('\n'))
    .filter((line) => /['"`].*[:.] [Ss](et|end) /.test(line) && !/^\s*(\/?\*|\/\/)|summary:/.test(line));
}

describe('a refusal', () => {
  it('that names what to set or to send succeeds once that is done', async () => {
    const runtime = await testRuntime({ model: scriptedModel(() => says('hello')) });
    const api = await testApi(runtime, { access: loopbackAccess, agents: () => [HELPER] });
    for (const { says: sentence, refused, remedied } of REMEDIES) {
      const before = await refused({ runtime, api });
      expect([sentence, before.status >= 400, before.text]).toEqual([
        sentence,
        true,
        expect.stringContaining(sentence.replaceAll('"', before.text.includes('\\"') ? '\\"' : '"')),
      ]);
      const after = await remedied({ runtime, api });
      expect([sentence, after.status < 300 || after]).toEqual([sentence, true]);
    }
  });

  it('has its row in this table', () => {
    const known = [...REMEDIES.map((each) => each.says), ...ELSEWHERE];
    const found = sentences();
    expect(found.filter((line) => !known.some((each) => line.includes(each)))).toEqual([]);
    expect(found.length).toBeGreaterThan(10);
  });
});
