/**
 * A button, and the command that does the same. The command of the button under the pointer or with the focus is shown in
 * one line of the page (`CommandLine`), where it can be copied.
 */
import { signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { messageOf } from '../session/session.ts';

/** `effect`: what a button does, where its word leaves that open. */
export const shownCommand = signal<{ readonly command: string; readonly effect?: string } | null>(null);

interface ActButtonProps {
  readonly command: string;
  readonly effect?: string;
  readonly run: () => unknown;
  readonly children: ComponentChildren;
  readonly tone?: 'main' | 'danger' | 'plain';
  readonly name?: string;
  readonly disabled?: boolean;
}

export function ActButton({
  command,
  effect,
  run,
  children,
  tone = 'plain',
  name,
  disabled,
}: ActButtonProps) {
  const show = () => {
    shownCommand.value = { command, ...(effect && { effect }) };
  };
  return (
    <button
      type="button"
      class={tone}
      data-act={name}
      title={effect ? `${effect}\n${command}` : command}
      disabled={disabled}
      onPointerEnter={show}
      onFocus={show}
      onClick={() => void run()}
    >
      {children}
    </button>
  );
}

export function CommandLine({ usual }: { readonly usual: string }) {
  const { command, effect } = shownCommand.value ?? { command: usual };
  return (
    <div class="command">
      <code dir="ltr">{command}</code>
      <CopyButton text={command} label="Copy" />
      {effect && <span class="faint">{effect}</span>}
    </div>
  );
}

interface CopyButtonProps {
  /** A function for a text that is large. */
  readonly text: string | (() => string);
  readonly label: string;
}

export function CopyButton({ text, label }: CopyButtonProps) {
  const copied = useSignal('');
  const what = typeof text === 'string' ? text : label;
  const copy = async () => {
    // Absent from pages that were loaded without TLS from another machine.
    await navigator.clipboard?.writeText(typeof text === 'string' ? text : text()).catch(() => undefined);
    copied.value = what;
  };
  return (
    <button
      type="button"
      class="quiet"
      title={typeof text === 'string' ? text : undefined}
      onClick={() => void copy()}
    >
      {copied.value === what ? 'Copied' : label}
    </button>
  );
}

/** What the last action of the page led to; errors stay until they are closed. */
export const notice = signal<{ readonly text: string; readonly failed: boolean } | null>(null);

/** Runs an action, and shows why it failed. Resolves to undefined then. */
export async function attempt<T>(work: () => Promise<T>, done?: string): Promise<T | undefined> {
  try {
    const result = await work();
    notice.value = done === undefined ? null : { text: done, failed: false };
    return result;
  } catch (error) {
    notice.value = { text: messageOf(error), failed: true };
    return undefined;
  }
}
