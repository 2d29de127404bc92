// Producers that write in transactions.

import { Producer } from '@platformatic/kafka'
import { Cannot } from './adapter.mjs'

const producers = new Map()

export function transactionAsks (common, members, message) {
  const of = ({ producer }) => producers.get(producer)

  return {
    open_producer: ({ producer, transactional_id: transactionalId, timeout_ms: timeout }) => {
      // Without an id and epoch it asks to go on as producer 0.
      const how = { transactionalId, timeout, idempotent: true, producerId: -1n, producerEpoch: -1 }
      producers.set(producer, { producer: new Producer({ ...common, retries: 20, ...how }) })
    },
    // Here it asks for its producer id.
    begin: async ask => {
      of(ask).transaction = await of(ask).producer.beginTransaction()
    },
    send: async ask => {
      const offsets = []
      for (const batch of ask.batches) {
        const messages = batch.map(record => message(ask.topic, ask.partition, record))
        const done = await of(ask).transaction.send({ messages })
        batch.forEach((_, n) => offsets.push(Number(done.offsets[0].offset) + n))
      }
      return offsets
    },
    // It takes messages that were read, and moves the position behind them.
    send_positions: async ask => {
      const member = members.get(ask.member)
      if (!member) {
        throw new Cannot('send positions of a group that it does not read in')
      }
      await of(ask).transaction.addConsumer(member.consumer)
      for (const [topic, partition, offset] of ask.positions) {
        await of(ask).transaction.addOffset(member.messageBefore(topic, partition, offset))
      }
    },
    end: ask => ask.commit ? of(ask).transaction.commit() : of(ask).transaction.abort(),
    close_producer: ask => of(ask).producer.close(true)
  }
}
