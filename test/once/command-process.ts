/**
 * A process that runs commands for tests (`command-host.ts`), each with its own standard streams, environment and
 * working directory.
 */
import { Readable, Writable } from 'node:stream';
import { main } from '../../src/cli/main.ts';
import { receiveSecrets } from '../../src/secret-environment.ts';
import type { CommandAnswer, CommandOrder } from './command-host.ts';

class Collected extends Writable {
  readonly #chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.#chunks.push(chunk);
    done();
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}

const setStream = (name: 'stdin' | 'stdout' | 'stderr', value: object) =>
  Object.defineProperty(process, name, { value, configurable: true });

async function run({ args, env, cwd, input }: CommandOrder): Promise<CommandAnswer> {
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
  // Clears the secrets of the previous command.
  receiveSecrets({});
  const [stdout, stderr] = [new Collected(), new Collected()];
  setStream('stdin', Readable.from(input === '' ? [] : [Buffer.from(input)], { objectMode: false }));
  setStream('stdout', stdout);
  setStream('stderr', stderr);
  const code = await main([...args]);
  process.removeAllListeners('SIGUSR1');
  return { code, stdout: stdout.text, stderr: stderr.text };
}

process.on('message', async (order: CommandOrder) => {
  process.send?.(await run(order));
});
process.on('disconnect', () => process.exit());
