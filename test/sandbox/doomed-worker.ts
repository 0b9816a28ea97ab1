/** A process that starts runs without end and waits to be killed. `adversarial-flood.test.ts` does that. */
import { createSandbox } from '../../src/sandbox/index.ts';

const { runCode } = createSandbox({ size: 2 }).scope();
const options = { globals: { ready: () => process.stdout.write('ready\n') && undefined } };
await Promise.all(
  ['for (;;);', 'await new Promise(() => {})'].map((body) => runCode(`ready();${body}`, options)),
);
