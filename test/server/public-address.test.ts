/** The server behind a proxy that ends TLS and removes a path prefix: every absolute address leads through the proxy. */
import { describe, expect, it } from '@jest/globals';
import { defineA2aAgent, defineTool } from '../../src/definitions/index.ts';
import { OPERATOR } from '../../src/server/api/caller.ts';
import {
  addressOf,
  givePublicAddress,
  type PublicAddressOptions,
} from '../../src/server/api/public-address.ts';
import { calls, says, scriptedModel } from '../../src/testing/index.ts';
import { a2aClient, answerOf, asTask, sending } from '../support/a2a.ts';
import { type TestApi, testApi } from '../support/api.ts';
import { testRuntime } from '../support/runtime.ts';
import { type ForwardedHeaders, tlsProxy } from '../support/tls-proxy.ts';

const HELPER = { name: 'helper', title: null, description: null, icon: '/helper.png' };

const note = defineTool({
  description: 'Writes a note.',
  execute: async (state) => {
    await state.writeFile('/note.txt', 'two and two', 'text/plain');
    return { status: 'success', result: 'written' };
  },
});

interface Setting {
  readonly headers?: ForwardedHeaders;
  readonly options: (proxy: string) => PublicAddressOptions;
}

const SETTINGS: Readonly<Record<string, Setting>> = {
  'that EVERTHREAD_PUBLIC_URL names': { options: (publicUrl) => ({ publicUrl }) },
  'that is trusted, and says so by X-Forwarded-…': {
    headers: ({ host, prefix }) => ({
      'x-forwarded-for': '203.0.113.7',
      'x-forwarded-proto': 'https',
      'x-forwarded-host': host,
      'x-forwarded-prefix': prefix,
    }),
    options: () => ({ trustedProxies: ['127.0.0.0/8'] }),
  },
};

describe.each(Object.entries(SETTINGS))('a server behind a proxy %s', (_, { headers, options }) => {
  it('is reached by every address that it returns, and works with another Everthread server', async () => {
    const model = scriptedModel(({ messages }) =>
      messages.at(-1)?.role === 'tool' ? says('Four.') : calls('note', {}),
    );
    const theirs = await testRuntime({ model, tools: { note } });
    const place: { api?: TestApi } = {};
    const proxy = await tlsProxy(() => place.api?.url ?? '', headers);
    const everyone = { access: () => OPERATOR, agents: () => [HELPER] };
    place.api = await testApi(theirs, { ...everyone, ...options(proxy) });
    // biome-ignore lint/suspicious/noExplicitAny: the JSON of any route
    const read = async (path: string, init?: RequestInit): Promise<any> =>
      (await fetch(proxy + path, init)).json();

    const card = await read('/a2a/helper/.well-known/agent-card.json');
    expect(card.supportedInterfaces).toEqual([
      expect.objectContaining({ url: `${proxy}/a2a/helper` }),
      expect.objectContaining({ url: `${proxy}/a2a/helper` }),
    ]);
    for (const binding of ['JSONRPC', 'HTTP+JSON'] as const) {
      const client = await a2aClient(`${proxy}/a2a/helper/`, binding);
      const task = asTask(await client.sendMessage(sending('Two and two?')));
      expect(answerOf(task)).toContain('Four.');
      const files = task.artifacts.flatMap(({ parts }) =>
        parts.flatMap(({ content }) => (content?.$case === 'url' ? [content.value] : [])),
      );
      expect(files).toEqual([expect.stringMatching(`^${proxy}/v1/threads/`)]);
      expect(await (await fetch(files[0] as string)).text()).toBe('two and two');
    }

    const listed = await read('/a2a/helper/tasks?includeArtifacts=true', {
      headers: { 'a2a-version': '1.0' },
    });
    expect(JSON.stringify(listed)).toContain(`"url":"${proxy}/v1/threads/`);
    expect(JSON.stringify(listed)).not.toContain('"url":"/note.txt"');

    const expert = defineA2aAgent({ description: 'Knows.', url: `${proxy}/a2a/helper`, idempotent: true });
    const ours = await testRuntime({
      model: scriptedModel([calls('a2a__expert', { message: 'Two and two?' }), says('It is four.')]),
      a2aAgents: { expert },
      prompt: { tools: ['a2a:expert'] },
    });
    const id = await ours.start('go');
    expect((await ours.transcript(id)).filter((line) => line.startsWith('tool'))).toEqual([
      expect.stringContaining('tool a2a__expert success: Four.'),
    ]);

    const { threads } = await read('/v1/threads?limit=1');
    const [{ id: threadId }] = threads;
    const post = (body: object): RequestInit => ({
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const { address } = await read(`/v1/threads/${threadId}/file/address`, post({ path: '/note.txt' }));
    expect(await (await fetch(new URL(address, proxy))).text()).toBe('two and two');
    expect((await read('/openapi.json')).servers).toEqual([{ url: proxy }]);
    expect((await read(`/api/threads/${threadId}`)).agent.icon).toBe(`${proxy}/helper.png`);
    const { pathname } = new URL(`${proxy}/api/threads/${threadId}/stream`);
    expect(await read('/api/auth/websocket-ticket', post({ pathname }))).toMatchObject({
      ticket: expect.any(String),
    });
  });
});

const asked = (headers: Readonly<Record<string, string>> = {}) =>
  new Request('http://inside.example:7777/v1/threads?limit=1', { headers });
const PROXY = '10.0.0.7';

describe('the public address of a request', () => {
  const told = (
    headers: Readonly<Record<string, string>>,
    { peer = PROXY, ...options }: PublicAddressOptions & { readonly peer?: string } = {},
  ) =>
    addressOf(
      givePublicAddress({ trustedProxies: ['10.0.0.0/8', '::1'], ...options })(asked(headers), { peer }),
    );

  it('is taken from the trusted proxies of its chain', () => {
    for (const [address, headers] of [
      ['http://inside.example:7777', {}],
      ['https://inside.example:7777', { 'x-forwarded-proto': 'https' }],
      ['https://a.example', { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'A.example' }],
      [
        'https://a.example:8443/x/y',
        {
          forwarded: 'for=203.0.113.7;host="a.example:8443";proto=https',
          'x-forwarded-prefix': '/x/y/',
        },
      ],
      // Only the last is the trusted proxy's own word; the client has written the first.
      [
        'https://a.example',
        {
          'x-forwarded-for': 'evil, 203.0.113.7',
          'x-forwarded-proto': 'http, https',
          'x-forwarded-host': 'evil.example, a.example',
        },
      ],
      [
        'https://a.example',
        { forwarded: 'for=_x;host=evil.example, for="[2001:db8::1]:9";host=a.example;proto=https' },
      ],
      // Two trusted proxies: the outer one knows the address that the client has used.
      [
        'https://a.example',
        {
          'x-forwarded-for': '203.0.113.7, 10.0.0.9',
          'x-forwarded-proto': 'https, http',
          'x-forwarded-host': 'a.example, inner.example',
        },
      ],
      [
        'http://inside.example:7777',
        { 'x-forwarded-host': 'a/b', 'x-forwarded-proto': 'ftp', 'x-forwarded-prefix': 'x"' },
      ],
    ] as const)
      expect([headers, told(headers)]).toEqual([headers, address]);
    expect(told({ 'x-forwarded-proto': 'https' }, { peer: '::ffff:10.0.0.7' })).toMatch(/^https:/);
  });

  it('is never taken from an untrusted peer', () => {
    const headers = {
      forwarded: 'host=evil.example;proto=https',
      'x-forwarded-host': 'evil.example',
      'x-forwarded-prefix': '/evil',
    };
    expect(told(headers, { peer: '203.0.113.7' })).toBe('http://inside.example:7777');
    expect(told(headers, { trustedProxies: [] })).toBe('http://inside.example:7777');
    expect(addressOf(givePublicAddress({})(asked(headers)))).toBe('http://inside.example:7777');
    expect(told(headers, { publicUrl: 'https://a.example/x/' })).toBe('https://a.example/x');
  });

  it('is configured by a URL and by proxy addresses, and names an invalid one', () => {
    for (const publicUrl of [
      'a.example',
      'ftp://a.example',
      'https://u:p@a.example',
      'https://a.example/?x=1',
    ])
      expect(() => givePublicAddress({ publicUrl })).toThrow(`EVERTHREAD_PUBLIC_URL is "${publicUrl}"`);
    for (const proxy of ['proxy.example', '10.0.0.0/33', '10.0.0.0/x', '::1/129', ''])
      expect(() => givePublicAddress({ trustedProxies: [proxy] })).toThrow(
        `EVERTHREAD_TRUSTED_PROXIES: "${proxy}"`,
      );
  });
});
