/**
 * One `everthread dev` with its own Temporal server, from its first output to its end: everything that it runs, and how
 * other commands use it.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.ts';
import { commandLine, isAlive, processTree, workerBelow } from '../support/process-tree.ts';
import { readStream } from '../support/read-stream.ts';
import { type CliProject, cliProject, HELPER, type Running, seen } from './support.ts';

const SECRET = 'swordfish-4711';
const KEY_FILE = '.everthread/encryption.key';

/** A tool that requires a variable and reports its value. */
const LOCKED = `
import { defineTool } from 'everthread';
export default defineTool({
  description: 'Tells.', variables: [{ name: 'KEY', required: true }],
  execute: async (state) => 'opened with ' + (await state.env('KEY')) + ', ' + (await state.env('KEY')).length,
});
`;

const SECOND = {
  'agents/agents/second.ts':
    "import { defineAgent } from 'everthread';\nexport default defineAgent({ name: 'second', sideA: { prompt: 'talk' } });\n",
};

// biome-ignore lint/suspicious/noExplicitAny: the JSON of any route
async function getJson(url: string): Promise<any> {
  return (await fetch(url)).json();
}

describe('everthread dev without a configured server', () => {
  // Neither the tests' server nor a configured one: `dev` uses what answers at 7233, otherwise it starts its own.
  const env = { TEMPORAL_ADDRESS: undefined, TEMPORAL_NAMESPACE: undefined };
  let project: CliProject;
  let dev: Running;
  let api: string;
  const devFile = () => join(project.folder, '.everthread', 'dev.json');

  beforeAll(async () => {
    project = await cliProject({ ...HELPER, 'agents/tools/weather.ts': LOCKED });
    dev = project.start(['dev'], env);
    await seen(dev, 'Next, in another terminal:', 120_000);
    [, api = ''] = dev.stdout().match(/HTTP API\s+(http:\S+) \(this machine only, no tokens\)/) ?? [];
  }, 130_000);
  afterAll(() => project.remove());

  it('creates a key for its project, used by the other commands', async () => {
    expect(dev.stderr()).toContain(`Created ${KEY_FILE}, the key that encrypts variables`);
    if (process.platform !== 'win32')
      expect(statSync(join(project.folder, KEY_FILE)).mode & 0o777).toBe(0o600);
    const start = ['threads', 'start', 'helper', 'weather', '--id', 'locked', '--wait'];
    const refused = await project.run(start, { env });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('"KEY" (the tool "weather")');
    expect((await project.run(['env', 'set', 'KEY'], { input: SECRET, env })).code).toBe(0);
    const { stdout } = await project.run(['threads', 'send', 'locked', 'weather', '--wait'], { env });
    expect(stdout).toContain(`opened with [secret KEY], ${SECRET.length}`);
  });

  it('runs everything, prints the addresses, and serves other commands', async () => {
    const [first] = dev.stdout().match(/^ {2}\w.*http.*$/m) ?? [];
    expect(first).toMatch(/Page\s+http:\S+\/ui$/);
    expect(await (await fetch(`${api}/ui`)).text()).toContain('<title>Everthread</title>');
    expect(dev.stdout()).toMatch(/Temporal\s+127\.0\.0\.1:\d+, namespace default/);
    expect(dev.stdout()).toMatch(/Agents\s+helper/);
    expect(dev.stdout()).toContain('  everthread chat helper\n');
    expect(existsSync(devFile())).toBe(dev.stdout().includes('started by this command'));
    expect(await project.run(['threads', 'start', 'helper', 'hello', '--wait'], { env })).toMatchObject({
      code: 0,
      stdout: 'You said: hello\n',
    });
    const idle = expect.objectContaining({ agent: 'helper', status: 'idle' });
    expect((await getJson(`${api}/v1/threads`)).threads).toEqual([idle, idle]);
    const [, uiUrl] = dev.stdout().match(/Web UI\s+(http:\/\/[\w.:]+)\//) ?? [];
    const { temporal } = await getJson(`${api}/v1/server`);
    expect(temporal).toMatchObject({ namespace: 'default', uiUrl: uiUrl ?? null });
    expect(dev.stdout()).toContain(temporal.address);
    const page = await fetch(`${api}/v1/agents`, { headers: { origin: 'http://localhost:5173' } });
    expect(page.headers.get('access-control-allow-origin')).toBe('http://localhost:5173');
    await page.body?.cancel();
  });

  it('serves the API in a separate process: a reload cuts no reader, and a crash restarts it at the same address', async () => {
    const started = await fetch(`${api}/v1/threads`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ agent: 'helper', messages: [{ content: 'hello' }] }),
    });
    const { threadId } = (await started.json()) as { threadId: string };
    let heard = 0;
    const reading = readStream(`${api}/v1/threads/${threadId}/events?types=message.created`, {
      format: 'sse',
      until({ data }) {
        if ((data as { data?: { role?: string } }).data?.role === 'user') heard += 1;
        return heard === 2;
      },
    });
    project.write(SECOND);
    const names = async () =>
      (await getJson(`${api}/v1/agents`)).agents.map(({ name }: { name: string }) => name);
    await eventually('the API has the new agent', async () => (await names()).includes('second'), 110_000);
    await project.run(['threads', 'send', threadId, 'hello again', '--wait'], { env });
    // One connection delivered both: it was open all the time.
    await reading;
    expect(heard).toBe(2);
    const pid = processTree(dev.process.pid as number).find((each) =>
      commandLine(each).includes('api-program'),
    );
    process.kill(pid as number, 'SIGKILL');
    await seen(dev, `The API runs again, at ${api}.`);
    expect(await names()).toEqual(['helper', 'second']);
  });

  it('restarts a crashed worker without restarting its Temporal server', async () => {
    const server = () => readFileSync(devFile(), 'utf8');
    const before = server();
    process.kill(workerBelow(dev.process.pid as number) as number, 'SIGKILL');
    await seen(dev, 'The worker runs again.', 120_000);
    expect(server()).toBe(before);
    expect((await project.run(['threads', 'start', 'helper', 'hello', '--wait'], { env })).stdout).toBe(
      'You said: hello\n',
    );
  });

  it('--wait reports when worker and server are down and back, and ends with the answer', async () => {
    const server = JSON.parse(readFileSync(devFile(), 'utf8')) as {
      readonly pid: number;
      readonly address: string;
    };
    const worker = workerBelow(dev.process.pid as number) as number;
    process.kill(worker, 'SIGSTOP');
    const waiting = project.start(['threads', 'start', 'helper', 'hello', '--wait'], env);
    await seen(
      waiting,
      /No worker answers on task queue "cli-\S+"\. Waiting for one; "everthread dev" starts one\./,
    );
    process.kill(server.pid, 'SIGSTOP');
    await seen(
      waiting,
      `The Temporal server at ${server.address} does not answer. Waiting for it; nothing is lost.`,
    );
    process.kill(server.pid, 'SIGCONT');
    await seen(waiting, /The Temporal server answers again\.|No worker answers[\s\S]+No worker answers/);
    process.kill(worker, 'SIGCONT');
    expect(await waiting.ended).toMatchObject({ code: 0, stdout: 'You said: hello\n' });
  });

  it('leaves nothing behind after Ctrl-C', async () => {
    const server = existsSync(devFile())
      ? (JSON.parse(readFileSync(devFile(), 'utf8')).pid as number)
      : undefined;
    dev.process.kill('SIGINT');
    const { code, stderr } = await dev.ended;
    expect(code).toBe(0);
    expect(stderr).toContain('Stopped.');
    expect(existsSync(devFile())).toBe(false);
    await expect(fetch(`${api}/healthz`)).rejects.toThrow('fetch failed');
    if (server !== undefined) await eventually('the server has ended', () => !isAlive(server));
  });
});
