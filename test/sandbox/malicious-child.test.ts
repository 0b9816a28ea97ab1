/**
 * A compromised child sends whatever it likes to its host: garbage, frames of any length, messages of any kind and
 * order. Its run ends with a coded error; the host, its other children and their runs go on.
 */
import { afterAll, describe, expect, it } from '@jest/globals';
import { listenForAlarms } from './escape-harness.ts';
import { openEscaped, runEscaped } from './escaped-child.ts';
import { LIES, OF } from './malicious-lies.ts';
import { openSandbox } from './own-sandbox.ts';

const escaped = openEscaped();
const alarm = listenForAlarms();

afterAll(async () => {
  await escaped.close();
  alarm.off();
});

describe('a compromised child', () => {
  it.each(Object.entries(LIES))(
    'that sends %s is killed, and its run ends as an error',
    async (_, source) => {
      const { status, error } = await runEscaped(escaped, source);
      expect({ status, name: error?.name }).toEqual({
        status: 'error',
        name: expect.stringMatching(/^(SandboxCrashed|SerializationError)$/),
      });
      // The child is gone, so the next run gets another one.
      expect(alarm.heard()).toEqual([]);
    },
  );

  it('that reports its end twice is ended, and the first counts', async () => {
    const twice = `for (let i = 0; i < 2; i++) say(${OF}{ status: "success", held: true }, memoryUsedBytes: 1 }, text("first"))`;
    expect(await runEscaped(escaped, twice)).toMatchObject({ status: 'success', result: 'first' });
    expect(await runEscaped(escaped, 'return "next"')).toMatchObject({ result: 'next' });
  });

  it('whose messages follow its result is ignored', async () => {
    const source = `say(${OF}{ status: "success", held: false }, memoryUsedBytes: 1 }, text("done")); for (let i = 0; i < 100; i++) say({ kind: "remark", run, remark: { kind: "report" } }, text("late")); say({ kind: "idle", run, rssBytes: 1 })`;
    expect(await runEscaped(escaped, source)).toMatchObject({
      status: 'success',
      result: 'done',
      reports: [],
    });
    expect(await runEscaped(escaped, 'return "next"')).toMatchObject({ result: 'next' });
  });

  it('that writes a frame byte by byte, or stops amid it, costs the bytes it wrote', async () => {
    const bytes = `
      const whole = frame({ kind: "remark", run, remark: { kind: "report" } }, text("x".repeat(2000)));
      for (const byte of whole) rawNow(Buffer.from([byte]));
      const half = Buffer.alloc(30_000_000); half.writeUInt32LE(30_000_000); raw(half.subarray(0, 1000));
      await new Promise((resolve) => setTimeout(resolve, 50)); require("node:process").reallyExit(0)`;
    const before = process.memoryUsage();
    const { status, reports } = await runEscaped(escaped, bytes);
    const after = process.memoryUsage();
    expect({ status, reports }).toEqual({ status: 'error', reports: ['x'.repeat(2000)] });
    expect(after.arrayBuffers + after.external - before.arrayBuffers - before.external).toBeLessThan(
      16 * 1024 * 1024,
    );
  });

  it('that floods its host leaves time for others, and is ended when it sends unacknowledged', async () => {
    const flood =
      'for (let i = 0; i < 9000; i++) say({ kind: "remark", run, remark: { kind: "report" } }, text("x")); return "flooded"';
    const healthy = openSandbox(1);
    await healthy.runCode('export default 1');
    const [flooded, ...others] = await Promise.all([
      runEscaped(escaped, flood),
      ...[1, 2, 3, 4].map((n) => healthy.runCode(`export default ${n}`)),
    ]);
    // Whether the host reads as fast as the child writes depends on the machine; if it did not read everything, the run
    // must not succeed.
    if (flooded.status === 'success') expect(flooded.reports).toHaveLength(9000);
    else expect(flooded).toMatchObject({ status: 'error', error: { name: 'SandboxCrashed' } });
    expect(others.map(({ result }) => result)).toEqual([1, 2, 3, 4]);
  });
});
