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
  shown('The think-act loop: tool dispatch, run_before_tool_call may block', 'AX-60', 'AX-106', 'AX-109'),
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
  shown('The think-act loop: loop detection', 'AX-70'),
  shown('Loop detection', 'AX-74', 'AX-75', 'AX-78'),
  shown('Loop detection: generic_repeat', 'AX-70', 'AX-73'),
  shown('Loop detection: ping_pong', 'AX-71'),
  shown('Loop detection: no_progress', 'AX-72'),
  shown('Loop detection: a warning adds a reminder', 'AX-70'),
  shown('Loop detection: critical stops the run', 'AX-70'),
  shown('The think-act loop: LLM call, streamed, with its four timeouts', 'AX-30', 'AX-31', 'AX-32', 'AX-33'),
  shown('The think-act loop: LLM call, on any failure invoke', 'AX-34', 'AX-36'),
  differs(
    'The think-act loop: LLM call, invoke on any failure',
    'what a provider refuses itself, with a status or for its limits, is tried again after a pause instead: it would refuse both',
  ),
  shown('Timeout configuration', 'AX-38', 'AX-39'),
  differs(
    'Timeout configuration: environment variables',
    'the times are those of each model, in its definition: one slow model needs its own',
  ),
  shown('timeout: AGX_LLM_INVOKE_TIMEOUT_SECONDS (`firstChunkSeconds`, `plainSeconds`)', 'AX-31', 'AX-35'),
  shown('timeout: AGX_LLM_HEARTBEAT_TIMEOUT_SECONDS (`idleSeconds`)', 'AX-32'),
  shown('timeout: AGX_LLM_HARD_TIMEOUT_SECONDS (`totalSeconds`)', 'AX-33'),
  shown('timeout: AGX_LLM_FIRST_FEEDBACK_SECONDS (`feedbackSeconds`)', 'AX-31', 'AX-37'),
  differs(
    'timeout: AGX_LLM_FIRST_FEEDBACK_SECONDS, a waiting TOKEN',
    'it is an event of its own, `model.waiting`: never part of the text',
  ),
  differs(
    'timeout: defaults of 120 and 300 seconds',
    '600 seconds for a whole answer and for a stream, 120 for its beginning: models that think take longer',
  ),
  shown('Timeout configuration: the request timeout passed into providers', 'AX-38'),
  shown('max_tool_rounds is exhausted: meta agents get ERROR', 'AX-03'),
  shown('max_tool_rounds is exhausted: others get SUBAGENT_PAUSED with metadata', 'AX-04', 'AX-122'),
  differs(
    'Runtime configuration: AGX_MAX_TOOL_ROUNDS / runtime.max_tool_rounds',
    '`guards.rounds` of an agent: off unless it is asked for, then 30, within 10 and 120 (AX-100, AX-101)',
  ),
  shown('Events hook: registered hooks run in priority order', 'AX-105'),
  shown('Events hook: `before_model` (`prefilter_llm_history`)', 'AX-111'),
  shown('Events hook: `after_model` (`before_create_message`)', 'AX-108'),
  shown('Events hook: `before_tool_call`', 'AX-60', 'AX-106', 'AX-109'),
  shown('Events hook: `on_agent_end`', 'AX-110'),
  differs(
    'Events hook: `MemoryHook` is registered at low priority',
    '`memoryHook` has the priority -10, and runs for agents that list it; its notes are the thread’s (AX-105, AX-111)',
  ),
  differs(
    'Events hook: `on_agent_end`, before FINAL or with max-round messages',
    'on every ending, with its reason: what an agent holds is let go however it ends (AX-110)',
  ),
  waits('Events hook: `on_compaction`', 'a hook behind a summary'),
  shown('Events hook: `after_tool_call` (`after_tool_call_success`, `after_tool_call_failure`)', 'AX-107'),
];
