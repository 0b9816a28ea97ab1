/**
 * Text of an MCP server is untrusted: invisible characters are removed from it, and no address that it names is
 * requested.
 */
import { describe, expect, it } from '@jest/globals';
import type { McpReach } from '../../src/core/author/mcp-server.ts';
import { meet, program, serve, serveProgram } from '../support/rude-mcp.ts';

/** An internal address that must not be requested, and the requests that it received. */
async function insideAddress() {
  const heard: string[] = [];
  const inside = await serve((request, response) => {
    heard.push(String(request.url));
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  });
  return { heard, url: inside.by === 'http' ? inside.url : '' };
}

const REACHES: readonly (readonly [
  string,
  (how: string, ...more: string[]) => McpReach | Promise<McpReach>,
])[] = [
  ['a program', program],
  ['an address', serveProgram],
];

describe.each(REACHES)('%s that', (_name, reached) => {
  it('hides text in its descriptions has its invisible characters removed; a script is plain text', async () => {
    const { code, listed = [] } = await meet(await reached('hides words in its descriptions', ''));
    expect(code).toBe('success');
    expect(listed[0]?.description).toBe('[31mAdds.<script>alert(1)</script>');
    expect(listed[0]?.parameters.properties).toEqual({ a: { type: 'number', description: '[31mfirst' } });
  });

  it.each(['has a schema that refers inside', 'links to an address inside'])(
    '%s causes no request to that address',
    async (how) => {
      const { heard, url } = await insideAddress();
      expect(await meet(await reached(how, '', url))).toMatchObject({ code: 'success' });
      expect(heard).toEqual([]);
    },
  );

  it('repeatedly announces a changed list is asked for it once', async () => {
    const how = 'tells again and again that its list has changed';
    expect(await meet(await reached(how))).toMatchObject({ code: 'success', text: 'listed 1' });
  });
});

it('names another address for its authorisation gets McpUnavailable, and that address no request', async () => {
  const { heard, url } = await insideAddress();
  const header = {
    'www-authenticate': `Bearer resource_metadata="${url}/.well-known/oauth-protected-resource"`,
  };
  const reach = await serve((_, response) => response.writeHead(401, header).end());
  expect(await meet(reach)).toMatchObject({ code: 'McpUnavailable' });
  expect(heard).toEqual([]);
});
