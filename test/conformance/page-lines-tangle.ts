/**
 * Tangle's agent-runtime page, line by line: its layers, lists and names, with the acceptance cases whose tests show
 * it, or the intended deviation.
 */
import { differs, type PageLine, shown } from './page-line.ts';

export const TANGLE_LINES: readonly PageLine[] = [
  shown('Layer: agent manifest, defineAgent', 'TG-01', 'TG-02'),
  shown('Layer: task lifecycle, runAgentTask and runAgentTaskStream', 'TG-03', 'TG-10', 'TG-20'),
  shown('Layer: chat-turn lifecycle, handleChatTurn', 'TG-12', 'TG-13', 'TG-14'),
  shown('Layer: execution continuity', 'TG-16', 'TG-17'),
  shown('Layer: backends and catalogue', 'TG-21', 'TG-25', 'TG-27'),
  shown('Each layer alone: a raw backend and the catalogue', 'TG-24', 'TG-27'),
  shown('Each layer alone: the whole stack, defineAgent to handleChatTurn', 'TG-01', 'TG-12'),
  shown('Task: observe, validate, decide, act or ask or stop', 'TG-03', 'TG-05'),
  shown('Task: runAgentTaskStream yields RuntimeStreamEvents', 'TG-10'),
  shown('Task: a backend within the loop, its session and what it goes on with', 'TG-10', 'TG-11'),
  shown('Task: stop semantics, eval lift, cost ledger', 'TG-04', 'TG-06', 'TG-30'),
  shown('Chat turn: NDJSON and the session.run.* envelope', 'TG-12'),
  shown('Chat turn: persist and trace hooks', 'TG-14', 'TG-15'),
  shown('Chat turn: produce() of the handler', 'TG-12', 'TG-13', 'TG-16', 'TG-17', 'TG-18'),
  differs(
    'Chat turn: produce() runs wherever the turn is asked for',
    'it runs in the process that asked first; if that process is lost, the next one that asks runs it again if its author has said that this is harmless (`repeatable`), else the turn fails with `ProducerLost` (TG-17, TG-20)',
  ),
  shown('Chat turn: persistAssistantMessage of the handler; of an agent: persistTurns', 'TG-14', 'TG-15'),
  differs(
    'Chat turn: one response for a turn, whatever it waits for',
    'the response ends with `session.run.waiting` if a person is asked, and reading continues after the answer',
  ),
  shown('Continuity: box.streamPrompt reconnects within the call', 'TG-16'),
  shown('Continuity: cross-process, POST /agents/run/stream with X-Execution-ID', 'TG-17'),
  differs(
    'Continuity: a buffer of 10,000 events, two minutes after completion, then the turn runs again',
    'a turn is replayed as long as its thread exists, and never run again; an unknown id is `execution_not_found`',
  ),
  shown('Continuity: deriveExecutionId', 'TG-19'),
  differs(
    'Continuity: deriveExecutionId joins its parts by a colon',
    'the parts are encoded first, so that no two turns share an id (TG-19)',
  ),
  shown('Continuity: same id, dedup', 'TG-17', 'TG-18'),
  shown('Continuity: durability, reconnect, replay', 'TG-16', 'TG-20'),
  shown('Examples: chat-handler', 'TG-14'),
  shown('Examples: model-resolution', 'TG-27'),
  shown('Examples: runtime-run', 'TG-29'),
  shown('Examples: sandbox-stream-backend', 'TG-17'),
  shown('Examples: basic-task, agent-into-reviewer', 'TG-31'),
  shown('Boundary: the Worker routes and persists, and holds no execution', 'TG-16'),
  shown('defineAgent: surfaces, knowledge, rubric, run', 'TG-01', 'TG-02'),
  shown('Catalogue: resolveChatModel, validateChatModelId', 'TG-27'),
  shown('Catalogue: getModels, resolveRouterBaseUrl', 'TG-27', 'TG-28'),
  shown('Catalogue: no React, no process.env, Node and Workers', 'TG-27'),
  shown('Backends: createOpenAICompatibleBackend', 'TG-21', 'TG-22', 'TG-23', 'TG-24'),
  shown('Backends: createSandboxPromptBackend', 'TG-17'),
  shown('Backends: policy.fallbackModels', 'TG-25', 'TG-26'),
  shown('Doctrine: no silent fallbacks; required fields fail loud', 'TG-21', 'TG-26'),
  differs(
    'Backends: unknown events of a box are dropped, and stream data that is no JSON is text',
    'they are passed to `onUnmapped`, and invalid data fails the stream: nothing is dropped silently',
  ),
  shown('Run row and cost ledger', 'TG-29', 'TG-30'),
  shown('Run row: startRuntimeRun answers at once', 'TG-29'),
  shown('Telemetry is redacted', 'TG-32'),
  shown('Eval harness: a manifest is what it benchmarks: its personas, its knowledge, its rubric', 'TG-33'),
  differs(
    'Analyst loop: edits the surfaces of a manifest',
    'the page delegates it to another package, whose model and merges are decisions of a product; where it edits (`surfaces`, `resolveSubject`), what has changed (`hash`, `manifest diff`) and what that scores are here (TG-02, TG-33)',
  ),
  differs(
    'Rubric: judges',
    'the eval harness runs them: calling a judge model after each task would cost money in production. They are validated, stored and compared with the manifest; dimensions score each task',
  ),
  shown('Manifest: personas, played by the inputs of tasks', 'TG-33'),
];
