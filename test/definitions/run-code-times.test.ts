/** Time limits of `run_code`: a program's own time starts with the program; waiting for a place has another limit. */
import { afterAll, describe, expect, it } from '@jest/globals';
import type { ThreadState } from '../../src/core/author/thread-state.ts';
import type { ToolResult } from '../../src/core/message/message.ts';
import { createRunCode, type RunCodeTimes } from '../../src/definitions/run-code-tool.ts';
import { createSandbox } from '../../src/sandbox/index.ts';
import { eventually } from '../support/eventually.ts';

const sandbox = createSandbox({ size: 1 });
const { runCode } = sandbox.scope({ tenant: 'thread' });
afterAll(() => sandbox.close());

function call(times: RunCodeTimes, source: string): Promise<ToolResult> {
  const { execute } = createRunCode(times);
  return (execute as unknown as (state: Partial<ThreadState>, args: unknown) => Promise<ToolResult>)(
    { runCode },
    { source },
  );
}

/** Occupies the sandbox's only place until the returned function is called. */
async function keepPlace(): Promise<() => void> {
  const reached = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const wait = () => {
    reached.resolve();
    return left.promise;
  };
  void runCode('await wait()', { globals: { wait } });
  await reached.promise;
  return left.resolve;
}

describe('the time of run_code', () => {
  it('does not include the wait for a slot', async () => {
    // A busy machine may need longer than the limit for the program itself.
    let result: ToolResult | undefined;
    for (let seconds = 1; seconds < 20 && result?.status !== 'success'; seconds *= 2) {
      const letGo = await keepPlace();
      const since = performance.now();
      const waiting = call({ waitSeconds: 3600, deadlineSeconds: seconds }, 'export default 6 * 7');
      await eventually('its time would be over', () => performance.now() - since > 1000 * seconds + 500);
      letGo();
      result = await waiting;
    }
    expect(result).toEqual({ status: 'success', result: '{"result":42}' });
  });

  it('has a limit for the wait for a place', async () => {
    const letGo = await keepPlace();
    expect(await call({ waitSeconds: 1, deadlineSeconds: 3600 }, 'export default 1')).toEqual({
      status: 'error',
      error: expect.stringMatching(/^terminated: Terminated: The code waited 1 seconds and did not start/),
    });
    letGo();
  });

  it('ends a program at its deadline, and reports that', async () => {
    expect(await call({ waitSeconds: 3600, deadlineSeconds: 1 }, 'for (;;);')).toEqual({
      status: 'error',
      error: 'terminated: Terminated: The code did not end within 1 seconds.',
    });
  });
});
