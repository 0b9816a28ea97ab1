/**
 * AgenticX's runtime page, line by line: each heading, row of a table and step of its loop, with the acceptance cases whose tests show it,
 * the deviation that is on purpose, or what it waits for.
 */
import { differs, type PageLine, shown, waits } from './page-line.ts';

export const AGENTICX_LINES: readonly PageLine[] = [
  shown('The think-act loop: message sanitization', 'AX-10', 'AX-12', 'AX-13', 'AX-14', 'AX-15'),
  differs(
    'The think-act loop: message sanitization, dangling tool_calls are dropped',
    'such a call gets a failed result, so that the model knows of it; one without an id is dropped, and its text kept (AX-11)',
  ),
  shown('The think-act loop: context compaction', 'AX-20', 'AX-24', 'AX-25'),
  shown(
    'Context compaction: threshold_messages, threshold_chars, with their minimum',
    'AX-20',
    'AX-21',
    'AX-22',
  ),
  shown('Context compaction: retain_recent_messages', 'AX-20', 'AX-22', 'AX-26'),
  differs('Context compaction: a Chinese prompt', 'the prompt is English'),
  shown('Context compaction: truncated snippets on failure', 'AX-23'),
  shown('Context compaction: one system message tagged [compacted], and the retained tail', 'AX-24'),
  differs(
    'Context compaction: a list that starts with the summary',
    'the prompt of the agent stands before it, and a tail that does not begin with a user has what the user asked before it',
  ),
  shown('The think-act loop: loop detection', 'AX-70'),
  shown('Loop detection', 'AX-74', 'AX-75', 'AX-78'),
  shown('Loop detection: generic_repeat', 'AX-70', 'AX-73'),
  shown('Loop detection: ping_pong', 'AX-71'),
  shown('Loop detection: no_progress', 'AX-72'),
  shown('Loop detection: a warning adds a reminder', 'AX-70'),
  shown('Loop detection: critical stops the run', 'AX-70'),
  shown('max_tool_rounds is exhausted: meta agents get ERROR', 'AX-03'),
  shown('max_tool_rounds is exhausted: others get SUBAGENT_PAUSED with metadata', 'AX-04', 'AX-122'),
  differs(
    'Runtime configuration: AGX_MAX_TOOL_ROUNDS / runtime.max_tool_rounds',
    '`guards.rounds` of an agent: off unless it is asked for, then 30, within 10 and 120 (AX-100, AX-101)',
  ),
  shown('The think-act loop: invalid tool names are normalised', 'AX-45'),
  shown('The think-act loop: streamed JSON arguments are repaired', 'AX-46', 'AX-48', 'AX-50'),
  differs(
    'The think-act loop: arguments that cannot be repaired are an empty object',
    'their call is not made, and the model reads why (AX-47)',
  ),
  shown('The think-act loop: tool-call filtering', 'AX-45', 'AX-49'),
  shown(
    'The think-act loop: an inline tool call from plaintext',
    'AX-52',
    'AX-53',
    'AX-54',
    'AX-55',
    'AX-56',
  ),
  differs(
    'The think-act loop: an inline tool call anywhere in plaintext',
    'in a wrapper made for calls, or where it is all of the text: words about a tool never run it (AX-57)',
  ),
  waits('The think-act loop: tool dispatch, run_before_tool_call may block', 'hooks before a call'),
  shown(
    'The think-act loop: tool dispatch, unknown tools produce a result without executing',
    'AX-61',
    'AX-62',
  ),
  differs(
    'The think-act loop: tool dispatch, invalid names produce a result',
    'where an answer has other calls, one that names nothing is left out of it: the model is told nothing of a call that is none (AX-45)',
  ),
  shown('The think-act loop: tool dispatch, meta tools require a team manager', 'AX-67'),
  shown('The think-act loop: tool dispatch, what is denied or cut off', 'AX-63', 'AX-64'),
];
