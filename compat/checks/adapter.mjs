// The loop of a client's program that is written in JavaScript: asks in, answers out, in any order.

import { createInterface } from 'node:readline'

/** The client has no way to do this; the reason is in its words. */
export class Cannot extends Error {}

/** `asks`: functions by name; `cannot`: reasons by name; `codeOf`: the broker's code in an error, or null. */
export async function serve (asks, cannot, codeOf) {
  const pending = new Set()
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, do: name, ...how } = JSON.parse(line)
    const answering = (name in cannot ? Promise.resolve({ cannot: cannot[name] }) : answered(asks[name], how, codeOf))
      .then(answer => process.stdout.write(JSON.stringify({ id, ...answer }, plain) + '\n'))
      .finally(() => pending.delete(answering))
    pending.add(answering)
  }
  await Promise.all(pending)
}

async function answered (ask, how, codeOf) {
  try {
    return { ok: (await ask(how)) ?? null }
  } catch (error) {
    if (error instanceof Cannot) {
      return { cannot: error.message }
    }
    const code = codeOf(error)
    if (code != null) {
      return { refused: code }
    }
    console.error(error)
    return { crash: `${error.name}: ${error.message}` }
  }
}

// Offsets and timestamps are big integers in these clients.
function plain (_, value) {
  return typeof value === 'bigint' ? Number(value) : value
}

export function data (text) {
  return text == null ? text : Buffer.from(text)
}

export function text (bytes) {
  return bytes == null ? null : bytes.toString()
}

export function sleep (ms) {
  return new Promise(resolve => setTimeout(resolve, ms))
}
