/**
 * A server as a child process that speaks over its standard streams, one message per line.
 * P5. The process gets its author's environment, and only those variables of the worker that any program needs. No key,
 *     no address and no variable of the project is among them.
 * - Output is counted before it is parsed: per line, and per request. Beyond a limit the process is ended.
 * - The process is ended with its whole process group, and does not outlive this process (guardian.ts).
 */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from '@modelcontextprotocol/client';
import type { McpReach } from '../../core/author/mcp-server.ts';
import { errorMessage } from '../../core/value/thrown.ts';
import { quote } from '../wall/index.ts';
import { McpFailure } from './failure.ts';
import { guardGroup } from './guardian.ts';
import { MCP_LIMITS } from './limit.ts';

type Program = Extract<McpReach, { by: 'stdio' }>;

/** P5: the inherited variables; none reveals anything of the project. */
const INHERITED = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'TERM',
  'TMPDIR',
  'SYSTEMROOT',
  'PATHEXT',
];
const LF = 0x0a;
const GRACE_MS = 500;
const STDERR_CHARS = 2000;

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** Why the process was ended, or ended by itself; undefined if `close` ended it. */
  failure: McpFailure | undefined;
  readonly #program: Program;
  #child: ChildProcessWithoutNullStreams | undefined;
  #pieces: Buffer[] = [];
  #length = 0;
  #bytes = 0;
  #messages = 0;
  #stderr = '';
  #ended = false;

  constructor(program: Program) {
    this.#program = program;
  }

  async start(): Promise<void> {
    const { command, args, cwd, env } = this.#program;
    const child = spawn(command, args, {
      cwd,
      env: { ...ownEnvironment(), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    this.#child = child;
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error: NodeJS.ErrnoException) =>
        reject(
          new McpFailure('McpUnavailable', `${command} does not start: ${error.code ?? errorMessage(error)}`),
        ),
      );
    });
    const dismiss = child.pid === undefined ? () => {} : guardGroup(child.pid);
    // Nor does the child keep this process alive.
    child.unref();
    for (const stream of [child.stdin, child.stdout, child.stderr]) unref(stream);
    child.on('error', (error) => this.onerror?.(error));
    child.stdin.on('error', () => {});
    child.stdout.on('data', (piece: Buffer) => this.#read(piece));
    child.stderr.on('data', (piece: Buffer) => {
      this.#stderr = (this.#stderr + piece.toString('utf8')).slice(-STDERR_CHARS);
    });
    child.once('close', (code, signal) => {
      dismiss();
      this.#end(new McpFailure('McpUnavailable', this.#describeEnd(code, signal)));
    });
  }

  /** Resets the counters for a new request. */
  allow(): void {
    this.#bytes = 0;
    this.#messages = 0;
  }

  send(message: JSONRPCMessage): Promise<void> {
    const { stdin } = this.#child ?? {};
    if (!stdin?.writable)
      return Promise.reject(this.failure ?? new McpFailure('McpUnavailable', 'It has ended.'));
    return new Promise((resolve) => {
      stdin.write(`${JSON.stringify(message)}\n`, () => resolve());
    });
  }

  async close(): Promise<void> {
    const child = this.#child;
    this.#end();
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
    child.stdin.end();
    child.stdout.destroy();
    child.stderr.destroy();
    signalGroup(child, 'SIGTERM');
    const force = setTimeout(() => signalGroup(child, 'SIGKILL'), GRACE_MS);
    await gone;
    clearTimeout(force);
    // Other processes of its group may still run.
    signalGroup(child, 'SIGKILL');
  }

  #read(piece: Buffer): void {
    if (this.#ended) return;
    this.#bytes += piece.length;
    let from = 0;
    for (let at = piece.indexOf(LF); at >= 0 && !this.#ended; at = piece.indexOf(LF, from)) {
      this.#pieces.push(piece.subarray(from, at));
      from = at + 1;
      const line = Buffer.concat(this.#pieces).toString('utf8');
      this.#pieces = [];
      this.#length = 0;
      if (line.trim() !== '') this.#take(line);
    }
    const rest = piece.subarray(from);
    this.#length += rest.length;
    if (rest.length > 0) this.#pieces.push(rest);
    if (this.#bytes > MCP_LIMITS.requestBytes)
      this.#fault('McpTooLarge', `It sent more than ${MCP_LIMITS.requestBytes} bytes.`);
    else if (this.#length > MCP_LIMITS.messageBytes)
      this.#fault('McpTooLarge', `One of its messages has more than ${MCP_LIMITS.messageBytes} bytes.`);
  }

  #take(line: string): void {
    this.#messages += 1;
    const message = this.#messages > MCP_LIMITS.requestMessages ? undefined : toMessage(line);
    if (message) this.onmessage?.(message);
    else if (this.#messages > MCP_LIMITS.requestMessages)
      this.#fault('McpTooLarge', `It sent more than ${MCP_LIMITS.requestMessages} messages.`);
    else this.#fault('McpInvalid', `It sent an invalid message: ${quote(line, 100)}`);
  }

  #fault(code: McpFailure['code'], message: string): void {
    this.#end(new McpFailure(code, message));
    void this.close();
  }

  #end(failure?: McpFailure): void {
    if (this.#ended) return;
    this.#ended = true;
    this.failure = failure;
    this.#pieces = [];
    this.onclose?.();
  }

  #describeEnd(code: number | null, signal: NodeJS.Signals | null): string {
    const why = signal === null ? `exit code ${code}` : `signal ${signal}`;
    const stderrText = quote(this.#stderr, 300);
    return `Its process ended (${why})${stderrText === '' ? '.' : `: ${stderrText}`}`;
  }
}

function toMessage(line: string): JSONRPCMessage | undefined {
  try {
    return parseJSONRPCMessage(JSON.parse(line));
  } catch {
    return undefined;
  }
}

function ownEnvironment(): Record<string, string> {
  const found = INHERITED.map((name) => [name, process.env[name]] as const);
  return Object.fromEntries(found.filter((each): each is [string, string] => each[1] !== undefined));
}

function unref(stream: object): void {
  if ('unref' in stream && typeof stream.unref === 'function') stream.unref();
}

function signalGroup({ pid }: { readonly pid?: number }, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, signal);
  } catch {
    // It is gone.
  }
}
