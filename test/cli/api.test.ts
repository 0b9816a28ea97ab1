/** `everthread api`: what its settings make of the served API. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CliProject, cliProject, HELPER, seen } from './support.ts';

const TOKEN = 'token'.padEnd(20, '-');
const PAGE = 'https://app.example';

describe('everthread api', () => {
  let project: CliProject;
  beforeAll(async () => {
    project = await cliProject(HELPER);
  });
  afterAll(() => project.remove());

  it('listens on other interfaces once EVERTHREAD_API_TOKENS is set, as its error says', async () => {
    const args = ['api', '--host', '0.0.0.0', '--port', '0', '--json'];
    const refused = project.start(args);
    expect(await refused.ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('set EVERTHREAD_API_TOKENS'),
    });
    const served = project.start(args, {
      EVERTHREAD_API_TOKENS: TOKEN,
      EVERTHREAD_API_ORIGINS: PAGE,
      EVERTHREAD_API_KEEP_ALIVE_MS: '90000',
      EVERTHREAD_PUBLIC_URL: 'https://agents.example/everthread/',
    });
    await seen(served, '"event":"ready"');
    const ready = JSON.parse(served.stdout());
    expect(ready.publicUrl).toBe('https://agents.example/everthread/');
    const { port } = new URL(ready.url);
    const asked = await fetch(`http://127.0.0.1:${port}/v1/threads`, {
      method: 'OPTIONS',
      headers: { origin: PAGE, 'access-control-request-method': 'GET' },
    });
    expect([asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([204, PAGE]);
    const answer = await fetch(`http://127.0.0.1:${port}/v1/threads`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect([answer.status, answer.headers.get('keep-alive')]).toEqual([200, 'timeout=90']);
    await answer.body?.cancel();
    const card = await fetch(`http://127.0.0.1:${port}/a2a/helper/.well-known/agent-card.json`);
    expect(await card.text()).toContain('"https://agents.example/everthread/a2a/helper"');
    served.process.kill('SIGTERM');
    expect((await served.ended).code).toBe(0);
  }, 240_000);

  it('names the invalid setting', async () => {
    const wrong = project.start(['api', '--port', '0'], { EVERTHREAD_API_ORIGINS: 'app.example' });
    expect(await wrong.ended).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('EVERTHREAD_API_ORIGINS: "app.example" is not an origin'),
    });
  }, 240_000);
});
