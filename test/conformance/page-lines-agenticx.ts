/**
 * AgenticX's runtime page, line by line: each heading, row of a table and step of its loop, with the acceptance cases whose tests show it,
 * the deviation that is on purpose, or what it waits for.
 */
import { differs, type PageLine, shown } from './page-line.ts';

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
];
