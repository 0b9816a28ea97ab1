/**
 * One sandbox child as its parent sees it: how it is started, addressed and killed, and how its end is reported.
 * C1. A child runs behind the best wall available, which is chosen before it starts (`wall/`).
 * C2. Nothing a child writes is trusted: frames are bounded, messages are parsed by hand, and a child that violates the
 *     protocol is killed (`supervised-process.ts`). The holder of its run is notified as of any other end.
 * C3. On Linux a child's memory is watched from outside, even while the host is busy.
 * C4. A child ends when the channel closes, and when its parent dies.
 */
import { errorMessage } from '../../core/value/error.ts';
import type { FromChild, ToChild } from '../protocol.ts';
import type { ChildEnd } from './child-end.ts';
import { startEnclosed } from './enclosed-process.ts';
import { childProgram, WATCHDOG } from './program.ts';
import { SupervisedProcess, type Watch } from './supervised-process.ts';
import { chooseWall } from './wall/choose.ts';
import { findAbsent } from './wall/readable.ts';
import type { WallKind, WallSetting } from './wall/wall.ts';

export type { ChildEnd } from './child-end.ts';

export interface SpawnOptions {
  /** The wall that isolates children. Default: the best available. */
  readonly wall?: WallSetting;
  /** Path of the program. Default: the sandbox's own. */
  readonly main?: string;
  readonly watch?: Watch;
  /** Without Node's permission model: only the wall restricts the child. */
  readonly bare?: boolean;
}

const WATCH = process.platform === 'linux' ? 'outside' : 'inside';

/** `failed`: its process could not be started, or the child was killed before that. */
type State =
  | { readonly kind: 'choosing wall' }
  | { readonly kind: 'started'; readonly process: SupervisedProcess }
  | { readonly kind: 'failed' };

/** The process starts once wall and program are known: immediately, except for the first child of a host. */
export class SandboxChild {
  onMessage: (message: FromChild) => void = () => undefined;
  onEnd: (end: ChildEnd) => void = () => undefined;
  readonly #options: Required<Omit<SpawnOptions, 'wall' | 'main'>>;
  #state: State = { kind: 'choosing wall' };
  #referenced = true;

  constructor({ wall = 'auto', main, watch = WATCH, bare = false }: SpawnOptions = {}) {
    this.#options = { watch, bare };
    Promise.all([chooseWall(wall), childProgram(main)]).then(
      ([{ kind }, program]) => {
        const what = findAbsent();
        if (what === undefined) this.#start(kind, program);
        else this.#fail({ kind: 'absent', what });
      },
      (error) => this.#fail({ kind: 'crashed', how: errorMessage(error) }),
    );
  }

  get pid(): number {
    return this.#process?.pid ?? -1;
  }

  send(message: ToChild): void {
    this.#process?.send(message);
  }

  kill(): void {
    if (this.#state.kind === 'choosing wall') this.#state = { kind: 'failed' };
    this.#process?.kill();
  }

  /** While referenced, the child keeps this process alive. */
  ref(): void {
    this.#refer(true);
  }

  unref(): void {
    this.#refer(false);
  }

  get #process(): SupervisedProcess | undefined {
    return this.#state.kind === 'started' ? this.#state.process : undefined;
  }

  #refer(referenced: boolean): void {
    this.#referenced = referenced;
    this.#process?.refer(referenced);
  }

  #start(wall: WallKind, main: string): void {
    const { watch, bare } = this.#options;
    const args = watch === 'inside' ? [WATCHDOG] : [];
    try {
      if (this.#state.kind === 'failed') throw new Error('it was ended before it started');
      const enclosed = startEnclosed(wall, { main, args, threads: watch === 'inside', bare });
      const process = new SupervisedProcess(enclosed, watch, {
        onMessage: (message) => this.onMessage(message),
        onEnd: (end) => this.onEnd(end),
      });
      this.#state = { kind: 'started', process };
      process.refer(this.#referenced);
    } catch (error) {
      this.#fail({ kind: 'crashed', how: errorMessage(error) });
    }
  }

  #fail(end: ChildEnd): void {
    this.#state = { kind: 'failed' };
    this.onEnd(end);
  }
}
