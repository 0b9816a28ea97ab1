/** `run_code`: a tool by which a model runs its own code, in an isolate without access to anything (runtime §13). */
import { z } from 'zod';
import type { CodeExecution } from '../core/author/code-execution.ts';
import { toCodeToolResult } from './code-tool-result.ts';
import { defineTool } from './define-tool.ts';
import { markDefinition, nameDefinition } from './definition-mark.ts';

const MIB = 1024 * 1024;
const MEMORY_MIB = 64;

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);

/** The schema that models see, with kinds that every provider supports. Deeper values of `args` are accepted too. */
const shownArgs = z.object({
  source: z.string().describe('The source of one ES module.'),
  language: z.enum(['typescript', 'javascript']).optional().describe('Default: typescript.'),
  args: z
    .array(z.union([scalar, z.array(scalar), z.record(z.string(), scalar)]))
    .optional()
    .describe('JSON values with which the default export is called, if it is a function.'),
});

const acceptedArgs = shownArgs.extend({ source: z.string(), args: z.array(z.unknown()).optional() });

const DESCRIPTION = [
  'Runs TypeScript or JavaScript and returns its result: for arithmetic, for processing text and data, for trying an',
  'algorithm. The source is one ES module. Export the result as default: a value, or a function (may be async), which',
  'is called with args and whose return value is the result. The answer is {"result": …, "logs": […]}: return and log',
  'only what you need. Values that JSON lacks are tagged, such as {"$bigint":"1"}, {"$map":[[key,value]]}, {"$date":"…"}.',
  'Only the language itself is available: no network, no files, no timers, no imports, no Node or browser APIs. console works.',
  'Types are erased and not checked. Each call starts with a fresh environment and keeps nothing.',
].join(' ');

export interface RunCodeTimes {
  readonly waitSeconds: number;
  readonly deadlineSeconds: number;
}

export function createRunCode({ waitSeconds, deadlineSeconds }: RunCodeTimes) {
  const notBegun =
    `The code waited ${waitSeconds} seconds and did not start: other programs occupy every slot of the sandbox. ` +
    'The code is not the cause; run it again later.';
  const notEnded = `The code did not end within ${deadlineSeconds} seconds.`;
  const tool = defineTool({
    description: `${DESCRIPTION} Limits: ${MEMORY_MIB} MiB of memory, ${deadlineSeconds} seconds once it runs.`,
    args: shownArgs,
    idempotent: true,
    // Longer than both deadlines, whose messages are more precise.
    timeoutMs: (waitSeconds + deadlineSeconds + 60) * 1000,
    async execute(state, given) {
      const { source, language, args = [] } = given as z.output<typeof acceptedArgs>;
      const run = state.runCode(source, { language, execute: { args }, memoryLimitBytes: MEMORY_MIB * MIB });
      const begun = await awaitWithin(run, run.begun, waitSeconds, notBegun);
      return toCodeToolResult(begun ? await awaitWithin(run, run, deadlineSeconds, notEnded) : await run);
    },
  });
  return markDefinition({ ...nameDefinition(tool, 'run_code'), args: acceptedArgs, runsCode: true });
}

/** Waits for the promise. After the deadline, terminates the run with `reason` and keeps waiting for the promise. */
async function awaitWithin<Awaited>(
  run: CodeExecution,
  awaited: PromiseLike<Awaited>,
  seconds: number,
  reason: string,
): Promise<Awaited> {
  const deadline = setTimeout(() => run.terminate(reason), seconds * 1000);
  try {
    return await awaited;
  } finally {
    clearTimeout(deadline);
  }
}

/**
 * The tool has its own deadline, since models write endless loops, each of which would occupy a process of the sandbox.
 * The model reads its message. Waiting for a process does not count.
 */
export const RUN_CODE = createRunCode({ waitSeconds: 120, deadlineSeconds: 120 });
