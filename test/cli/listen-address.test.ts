/** Every port that a command opens: one that is taken, or is none, is told with the setting that names it. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type CliProject, cliProject } from './support.ts';

const occupant = createServer().listen(0, '127.0.0.1');
let project: CliProject;
let taken: string;

beforeAll(async () => {
  if (!occupant.listening) await once(occupant, 'listening');
  const { port } = occupant.address() as { readonly port: number };
  taken = `127.0.0.1:${port}`;
  project = await cliProject({ 'agents/agents/_none.ts': '' });
});
afterAll(async () => {
  occupant.close();
  await project.remove();
});

const portOf = (address: string) => address.slice(address.indexOf(':') + 1);

describe('a command whose port is taken', () => {
  it.each([
    [
      'worker, for health',
      () => ['worker', '--health', taken],
      { metrics: false },
      '--health or EVERTHREAD_HEALTH, or "off"',
    ],
    [
      'worker, for the metrics of the SDK',
      () => ['worker'],
      { metrics: true },
      'EVERTHREAD_TEMPORAL_METRICS, or unset it',
    ],
    [
      'dev, for the metrics of the SDK',
      () => ['dev'],
      { metrics: true },
      'EVERTHREAD_TEMPORAL_METRICS, or unset it',
    ],
    [
      'dev, for the debugger',
      () => ['dev', '--inspect', portOf(taken)],
      { metrics: false },
      '--inspect, or none for a free one',
    ],
    ['api', () => ['api', '--port', portOf(taken)], { metrics: false }, '--host or --port'],
  ])('names address and setting: %s', async (_name, args, { metrics }, setting) => {
    const env = metrics ? { EVERTHREAD_TEMPORAL_METRICS: taken } : {};
    const { code, stderr } = await project.start(args(), env).ended;
    expect(stderr).toContain(`at ${taken}: the port is already in use. Give another ${setting}.`);
    expect(stderr).toMatch(/^InvalidConfiguration: Cannot serve /m);
    expect(code).toBe(2);
  });
});

describe('an address that is none', () => {
  it.each(['9465', '127.0.0.1:99999', 'http://127.0.0.1:9465'])(
    'is refused for the metrics of the SDK: %s',
    async (address) => {
      const { code, stderr } = await project.start(['worker'], { EVERTHREAD_TEMPORAL_METRICS: address })
        .ended;
      expect(stderr).toContain(
        `"${address}" is not a valid address for the metrics of Temporal's SDK: write host:port`,
      );
      expect(code).toBe(2);
    },
  );

  it('is refused for the debugger below Node’s ports', async () => {
    const { code, stderr } = await project.start(['dev', '--inspect', '80']).ended;
    expect(stderr).toContain('Give a port, 1024 to 65535.');
    expect(code).toBe(2);
  });
});
