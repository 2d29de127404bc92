// Producers that write in transactions.

const producers = new Map()

export function transactionAsks (kafka, message) {
  const of = ({ producer }) => producers.get(producer)

  return {
    open_producer: async ({ producer: name, transactional_id: transactionalId, timeout_ms: transactionTimeout }) => {
      let partition = 0
      const producer = kafka.producer({
        transactionalId,
        transactionTimeout,
        idempotent: true,
        maxInFlightRequests: 1,
        allowAutoTopicCreation: false,
        createPartitioner: () => () => partition,
        retry: { initialRetryTime: 100, maxRetryTime: 500, retries: 20 }
      })
      producers.set(name, { producer, to: wanted => { partition = wanted } })
      await producer.connect()
    },
    // Here it asks for its producer id.
    begin: async ask => {
      of(ask).transaction = await of(ask).producer.transaction()
    },
    send: async ask => {
      of(ask).to(ask.partition)
      const offsets = []
      for (const batch of ask.batches) {
        const [done] = await of(ask).transaction.send({ topic: ask.topic, messages: batch.map(message) })
        batch.forEach((_, n) => offsets.push(Number(done.baseOffset) + n))
      }
      return offsets
    },
    // It names the group alone, whoever its member is.
    send_positions: async ask => {
      const topics = [...new Set(ask.positions.map(([topic]) => topic))].map(topic => ({
        topic,
        partitions: ask.positions.filter(([t]) => t === topic).map(([, partition, offset, metadata]) => ({ partition, offset: String(offset), metadata }))
      }))
      await of(ask).transaction.sendOffsets({ consumerGroupId: ask.group, topics })
    },
    end: ask => ask.commit ? of(ask).transaction.commit() : of(ask).transaction.abort(),
    close_producer: ask => of(ask).producer.disconnect()
  }
}
