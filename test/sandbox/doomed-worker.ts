/** A process that starts endless runs and waits to be killed by `adversarial-flood.test.ts`. */
import { createSandbox } from '../../src/sandbox/index.ts';

const { runCode } = createSandbox({ size: 2 }).scope();
const options = { globals: { ready: () => process.stdout.write('ready\n') && undefined } };
await Promise.all(
  ['for (;;);', 'await new Promise(() => {})'].map((body) => runCode(`ready();${body}`, options)),
);
